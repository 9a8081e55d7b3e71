"""`nmt`, and `python -m nmt` (and `torchrun -m nmt`)."""

import signal

from nmt.machine.cpu import sleep_sooner


def main() -> None:
    """Run the command line, which takes a moment to load; Ctrl-C ends it meanwhile, too."""
    sleep_sooner()
    try:
        from nmt.cli import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None


if __name__ == "__main__":
    main()
