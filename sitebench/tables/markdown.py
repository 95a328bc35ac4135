from __future__ import annotations

import re
from collections.abc import Iterable

from sitebench.tables.table import Table, cell_of


def to_markdown(table: Table) -> str:
    rule = ["---" if n < table.left else "---:" for n in range(len(table.columns))]
    lines = [f"### {plain(table.title)}", "", _line(map(plain, table.columns)), _line(rule)]
    lines += [_line(plain(cell_of(cell).words) for cell in row) for row in table.rows]
    if table.notes:
        lines += ["", *map(plain, table.notes)]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Escape bars, tags, emphasis and line ends; not all renderers know a backslash before `<`."""
    marked = re.sub(r"([\\|*_`>\[\]])", r"\\\1", re.sub(r"\s+", " ", text))
    return marked.replace("<", "&lt;")
