"""`sparktrace` and `python -m sparktrace_tui`: the command line."""

import sys


def main() -> int:
    """Run the command line on this process's arguments; returns the exit status."""
    from sparktrace_tui.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
