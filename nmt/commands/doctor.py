"""nmt doctor: what a report of a bug has to say of this machine."""

from nmt.commands.shell.streams import printable, put


def doctor() -> None:
    """Say what nmt finds on this machine.

    Versions, CPU and GPUs, the model and the engine, what is missing for which task: for reports of bugs.
    """
    from nmt.report.machine import machine_rows

    for name, value in machine_rows():
        put(f"{name:<14} {printable(value)}\n")
