"""Locust without access to the current folder (run by `python -P -m`).

The folder may be a stranger's. If its modules had the same names as ours, Locust would import them
instead. Locust would also read options from the folder's `locust.conf`, such as names of files to
write.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from sitebench.system.interrupt import EndingQuietly


@contextlib.contextmanager
def _distributions_read_once() -> Iterator[None]:
    """Save 0.3 s: gevent asks for plugins 25 times; each time Python would read every package."""
    module: Any = metadata
    original, entry_points = module.entry_points, module.entry_points()
    module.entry_points = lambda **which: entry_points.select(**which) if which else entry_points
    try:
        yield
    finally:
        module.entry_points = original


class _WebUI:
    """Locust's web UI, imported on use: most processes show none, and Flask takes 0.15 s."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        from locust.web import WebUI

        return WebUI(*args, **options)


@contextlib.contextmanager
def _without_flask() -> Iterator[None]:
    module: Any = ModuleType("locust.web")
    module.WebUI = _WebUI
    sys.modules["locust.web"] = module
    try:
        yield
    finally:
        del sys.modules["locust.web"]


with EndingQuietly(), _distributions_read_once(), _without_flask():
    from locust import argument_parser, runners
    from locust import main as locust

_OF_THE_USER = ("~/.locust.conf",)


class _Empty:
    def find_spec(self, *_: object) -> None:
        return None


def isolate(*, folder_last: bool = False) -> None:
    """Let Locust import nothing from the current folder; with `folder_last`, search it last."""
    folder, importers = str(Path.cwd()), sys.path_importer_cache
    if folder not in sys.path:
        # Locust puts the folder first on the path when it loads a locustfile.
        empty: Any = _Empty()
        importers[folder] = empty
        if folder_last:
            # `FOLDER/.` is the same folder under another name, for which imports are not blocked.
            sys.path.append(f"{folder}/.")
    parser: Any = argument_parser
    parser.get_empty_argument_parser.__defaults__ = (True, _OF_THE_USER)
    parser.get_parser.__defaults__ = (_OF_THE_USER,)
    # Without `inspect`, Runner.stop does not read the source of every frame for a debug message
    # (0.06 s).
    internals: Any = runners
    internals.inspect = None


def main(*, folder_last: bool = False) -> None:
    isolate(folder_last=folder_last)
    locust.main()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
