"""Locust, with nothing from the current folder (run by `python -P -m`).

That folder may be a stranger's: Locust would import from it whatever has the name of one of our
modules, and take options from its `locust.conf`, such as files to write.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sitebench.system.interrupt import EndingQuietly

with EndingQuietly():
    from locust import argument_parser
    from locust import main as locust

_OF_THE_USER = ("~/.locust.conf",)


class _Empty:
    """The finder of a folder without modules."""

    def find_spec(self, *_: object) -> None:
        return None


def main() -> None:
    folder, importers = str(Path.cwd()), sys.path_importer_cache
    if folder not in sys.path:
        # Locust puts it first on the path as it loads a locustfile.
        empty: Any = _Empty()
        importers[folder] = empty
    parser: Any = argument_parser
    parser.get_empty_argument_parser.__defaults__ = (True, _OF_THE_USER)
    parser.get_parser.__defaults__ = (_OF_THE_USER,)
    locust.main()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
