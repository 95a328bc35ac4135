"""Tables as the terminal shows them."""

import io
from collections.abc import Iterable

from rich.console import Console

from sitebench.tables.table import Table
from sitebench.tables.terminal import to_terminal


def shown(tables: Iterable[Table], width: int = 140) -> str:
    """Return the lines on a terminal of this width."""
    console = Console(width=width, record=True, force_terminal=False, file=io.StringIO())
    for table in tables:
        console.print(to_terminal(table), crop=False)
    return console.export_text()
