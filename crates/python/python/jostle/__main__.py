"""``python -m jostle``: the same command as ``jostle``."""

import sys

from ._native import run_command


def main() -> int:
    """Runs the command with the arguments of this process."""
    sys.stdout.flush()
    return run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
