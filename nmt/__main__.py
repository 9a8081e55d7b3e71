"""`nmt`, and `python -m nmt` (and `torchrun -m nmt`)."""

import signal
import sys


def main() -> None:
    """Run the command line, which takes a moment to load; Ctrl-C ends it meanwhile, too."""
    try:
        from nmt.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
