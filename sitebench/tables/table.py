from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

NOTHING = "n/a"


class Mark(StrEnum):
    """The state of a cell; each renderer shows it by more than a colour."""

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


class Cell(msgspec.Struct, frozen=True):
    """One cell; HTML shows `why` on hover, and in other formats only notes can give the reason."""

    text: str
    mark: Mark = Mark.PLAIN
    why: str = ""

    @property
    def words(self) -> str:
        """The text, readable without colours."""
        if self.mark is Mark.INVALID:
            return f"{self.text} (not usable)"
        bound = self.mark is Mark.BOUND and not self.text.startswith(">=")
        return f"{self.text} *" if bound else self.text


Row = Sequence[str | Cell]


class Table(msgspec.Struct, frozen=True):
    """Columns and rows under a title; the first `left` columns are words, others are figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    left: int = 1
    notes: Sequence[str] = ()


def cell_of(content: str | Cell) -> Cell:
    return content if isinstance(content, Cell) else Cell(content)


def explain_signs(rows: Iterable[Row], meanings: Mapping[str, str]) -> list[str]:
    """Return `sign: meaning` for each sign that a cell of these rows contains."""
    texts = [cell_of(content).text for row in rows for content in row]
    return [
        f"{sign.strip()}: {meaning}"
        for sign, meaning in meanings.items()
        if any(sign in text for text in texts)
    ]
