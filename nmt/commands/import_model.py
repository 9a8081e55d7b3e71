"""nmt import: a model from elsewhere becomes a run."""

from pathlib import Path
from typing import Annotated

from nmt.commands.shell import options
from nmt.commands.shell.streams import printable, say

Source = Annotated[
    Path,
    options.path_argument(
        "SOURCE",
        "firefox for Mozilla's newest model, a folder with a MarianMT or Marian model, or owner/name on the Hugging "
        "Face hub.",
    ),
]
Target = Annotated[Path, options.path_argument("DIR", "The run folder to make: new, or empty.")]
Prefix = Annotated[
    str | None,
    options.option("TOKEN", "Put before each source, such as '>>cmn_Hant<<'; '' for none."),
]
Revision = Annotated[
    str | None, options.option("REV", "Branch, tag or commit on the hub; default: main.")
]


def import_model(
    source: Source, folder: Target, prefix: Prefix = None, revision: Revision = None
) -> None:
    """Make a run of a model from elsewhere."""
    from nmt.exchange.importers.importing import import_run

    import_run(str(source), folder, prefix, revision, lambda line: say(printable(line)))
