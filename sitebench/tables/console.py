"""Standard output, where results are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from sitebench.tables.table import Table
from sitebench.tables.terminal import to_terminal

Printable = Table | RenderableType
_NOT_WRAPPED = 100_000


class _Results(Console):
    """A console that never crops a table: the terminal wraps the lines of a wide table."""

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        super().print(*objects, crop=crop, **options)


def results_console() -> Console:
    """Return a console for standard output; in a pipe without COLUMNS, rows are never wrapped."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return _Results()
    return _Results(width=_NOT_WRAPPED)


def show(parts: Iterable[Printable]) -> None:
    console = results_console()
    for part in parts:
        drawn = Text(part) if isinstance(part, str) else part
        console.print(to_terminal(part) if isinstance(part, Table) else drawn, highlight=False)
