"""The console script, which Ctrl-C ends quietly even while the command line is imported."""

from __future__ import annotations

import sys

from sitebench.system.interrupt import EndingQuietly
from sitebench.system.version import say_version


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        _version()
        return
    with EndingQuietly():
        from sitebench.cli.main import main as run
    run()


def _version() -> None:
    with EndingQuietly():
        from sitebench.errors import SitebenchError, exit_with
        from sitebench.system.output import assure_open
    assure_open()
    try:
        say_version()
        sys.stdout.flush()
    except SitebenchError as error:
        exit_with(error)


if __name__ == "__main__":
    main()
