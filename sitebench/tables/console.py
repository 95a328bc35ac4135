"""Standard output, where results are printed."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console

_NOT_WRAPPED = 100_000


class _Results(Console):
    """Prints tables that are wider than the terminal to their end, which the terminal wraps."""

    def print(self, *shown: Any, crop: bool = False, **how: Any) -> None:
        super().print(*shown, crop=crop, **how)


def results_console() -> Console:
    """Return the terminal; what reads a pipe wants each row in one line, unless COLUMNS is set."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return _Results()
    return _Results(width=_NOT_WRAPPED)
