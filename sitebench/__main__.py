"""The console script: Ctrl-C ends it quietly, also while the command line is imported."""

from __future__ import annotations

import sys

from sitebench.system.interrupt import EndingQuietly
from sitebench.system.version import say_version


def main() -> None:
    """Import the command line and run it; the version alone needs no command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        say_version()
        return
    with EndingQuietly():
        from sitebench.cli.main import main as run
    run()


if __name__ == "__main__":
    main()
