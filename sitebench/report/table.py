"""A table that is written as HTML for the page and as Markdown for text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from html import escape

from sitebench.frozen import frozen

NOTHING = "n/a"


class Mark(StrEnum):
    """The state of a cell; the page shows it by more than a colour."""

    PLAIN = ""
    INVALID = "invalid"
    BOUND = "bound"
    PRIMARY = "primary"
    TAKEN = "taken"
    POSSIBLE = "possible"
    NO = "no"
    UNKNOWN = "unknown"
    THEN = "then"
    PASS = "pass"
    FAIL = "fail"


@frozen
class Cell:
    """One cell; `why` is shown on hover, and in Markdown only by the notes."""

    text: str
    mark: Mark = Mark.PLAIN
    why: str = ""


Row = Sequence[str | Cell]


@frozen
class ReportTable:
    """Columns and rows under a title; the first `left` columns are words, the others figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    left: int = 1
    notes: Sequence[str] = ()

    def to_html(self) -> str:
        """Return the table as HTML that scrolls by itself on a narrow screen."""
        head = "".join(
            f'<th scope="col"{self._class(n)}>{escape(name)}</th>'
            for n, name in enumerate(self.columns)
        )
        body = ""
        for row in self.rows:
            # A row without a name belongs to the one above.
            more = "" if row[0] else ' class="more"'
            cells = "".join(self._html_cell(n, each) for n, each in enumerate(row))
            body += f"<tr{more}>{cells}</tr>"
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}">'
            f"<table><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{notes}"
        )

    def _html_cell(self, n: int, given: str | Cell) -> str:
        cell = given if isinstance(given, Cell) else Cell(given)
        text = escape(cell.text)
        if cell.mark:
            why = f' title="{escape(cell.why)}"' if cell.why else ""
            text = f'<span class="mark {cell.mark}"{why}>{text}</span>'
        elif cell.why:
            text = f'<span title="{escape(cell.why)}">{text}</span>'
        if n == 0:
            return f'<th scope="row"{self._class(n)}>{text}</th>'
        return f"<td{self._class(n)}>{text}</td>"

    def _class(self, n: int) -> str:
        return "" if n < self.left else ' class="figure"'

    def to_markdown(self) -> str:
        """Return the table in GitHub's syntax, its title as a heading."""
        rule = ["---" if n < self.left else "---:" for n in range(len(self.columns))]
        lines = [f"### {plain(self.title)}", "", _line(self.columns), _line(rule, raw=True)]
        lines += [_line([_text(each) for each in row]) for row in self.rows]
        if self.notes:
            lines += ["", *(plain(note) for note in self.notes)]
        return "\n".join(lines) + "\n"


def _text(given: str | Cell) -> str:
    if isinstance(given, str):
        return given
    if given.mark is Mark.INVALID:
        return f"{given.text} (not usable)"
    bound = given.mark is Mark.BOUND and not given.text.startswith(">=")
    return f"{given.text} *" if bound else given.text


def _line(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(each if raw else plain(each) for each in cells) + " |"


def plain(text: str) -> str:
    """Escape what Markdown would interpret: bars, tags, emphasis, line ends.

    Tags as HTML does: to some renderers a backslash before `<` is a text, and the tag a tag.
    """
    marked = re.sub(r"([\\|*_`>\[\]])", r"\\\1", re.sub(r"\s+", " ", text))
    return marked.replace("<", "&lt;")
