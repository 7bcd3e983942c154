"""`python -m similitude` is `similitude`: where the command of that name begins."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # as shells have it


def main() -> None:
    """Run the command line; Ctrl+C ends it without a traceback while it is being loaded, too."""
    try:
        from similitude.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
