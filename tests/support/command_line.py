"""The command line in this process, which has loaded torch already."""

from typer.testing import CliRunner, Result

from nmt.cli import app


def invoke(*arguments: object) -> Result:
    """What `nmt` with these arguments answers."""
    return CliRunner().invoke(app, list(map(str, arguments)))
