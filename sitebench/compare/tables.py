"""A point's figures as two tables, for the terminal and the page."""

from __future__ import annotations

from sitebench.compare import wording as words
from sitebench.compare.comparison import Compared, Row
from sitebench.compare.effect import Design
from sitebench.compare.measures import WORSE
from sitebench.report.table import Cell, Mark, Table


def tables(point: Compared, design: Design) -> list[Table]:
    """Return B against A, and how certain that is."""
    if not point.rows:
        return []
    return [_answers(point, design), _evidence(point)]


def _answers(point: Compared, design: Design) -> Table:
    columns = ("Median of", "A", "B", "B/A", "interval", "B is")
    return Table(
        f"{point.title} ({point.repeats} {design})", columns, list(map(_answer, point.rows))
    )


def _answer(row: Row) -> list[str | Cell]:
    return [
        row.measure.title,
        words.value(row, row.median_a),
        words.value(row, row.median_b),
        words.percent(row.effect.ratio.value),
        words.interval(row.effect.ratio),
        Cell(row.verdict, Mark.PRIMARY if row.verdict in WORSE else Mark.PLAIN),
    ]


def _evidence(point: Compared) -> Table:
    columns = ("Evidence", "A/A null", "its interval", "could show")
    return Table("", columns, list(map(_certainty, point.rows)))


def _certainty(row: Row) -> list[str | Cell]:
    null = row.null
    return [
        row.measure.title,
        words.NOTHING if null is None else words.percent(null.ratio.value),
        words.NOTHING if null is None else words.interval(null.ratio),
        words.detectable(row),
    ]
