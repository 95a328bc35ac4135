from __future__ import annotations

import re
from html import escape

from sitebench.tables.table import Cell, Table, cell_of


def to_html(table: Table) -> str:
    """Return the table as HTML; on a narrow screen the table scrolls, and the page does not."""
    figure = ["" if n < table.left else ' class="figure"' for n in range(len(table.columns))]
    heads = zip(figure, table.columns, strict=True)
    head = "".join(f'<th scope="col"{style}>{typeset(name)}</th>' for style, name in heads)
    body = ""
    for row in table.rows:
        # A row without a name belongs to the row above.
        body += "<tr>" if row[0] else '<tr class="more">'
        name, *cells = map(_text, map(cell_of, row))
        body += f'<th scope="row"{figure[0]}>{name}</th>'
        body += "".join(
            f"<td{style}>{text}</td>" for style, text in zip(figure[1:], cells, strict=False)
        )
        body += "</tr>"
    notes = "".join(f'<p class="note">{typeset(note)}</p>' for note in table.notes)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f"<table><caption>{escape(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{notes}"
    )


def typeset(text: str) -> str:
    """Return a text as HTML, with the signs that a terminal may not have."""
    signs = re.sub(r"(?<=\d )us\b|^us(?=/)", "µs", text).replace(">=", "≥").replace("<=", "≤")
    return escape(signs)


def _text(cell: Cell) -> str:
    if not cell.mark and not cell.why:
        return typeset(cell.text)
    mark = f' class="mark {cell.mark}"' if cell.mark else ""
    reason = f' title="{typeset(cell.why)}"' if cell.why else ""
    return f"<span{mark}{reason}>{typeset(cell.text)}</span>"
