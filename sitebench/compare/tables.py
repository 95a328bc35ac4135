"""A point's numbers as two tables, for the terminal and for the page."""

from __future__ import annotations

from sitebench.compare import wording as words
from sitebench.compare.comparison import Compared, Row
from sitebench.compare.effect import Design
from sitebench.compare.measures import WORSE
from sitebench.report.table import Cell, Mark, Table


def tables(point: Compared, design: Design) -> list[Table]:
    """Return what B is against A, and how sure that is."""
    if not point.rows:
        return []
    return [_answers(point, design), _evidence(point, design)]


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


def _evidence(point: Compared, design: Design) -> Table:
    paired = ("p of pairs",) if design is Design.PAIRS else ()
    columns = ("Evidence", "p", *paired, "A/A null", "its interval", "could show")
    return Table("", columns, [_sure(row, design) for row in point.rows])


def _sure(row: Row, design: Design) -> list[str | Cell]:
    paired, null = row.effect.signed_rank, row.null
    approximate = "" if row.effect.mann_whitney.exact else " (normal)"
    return [
        row.measure.title,
        words.p(row.effect.mann_whitney.p) + approximate,
        *([words.p(None if paired is None else paired.p)] if design is Design.PAIRS else []),
        words.NOTHING if null is None else words.percent(null.ratio.value),
        words.NOTHING if null is None else words.interval(null.ratio),
        words.detectable(row),
    ]
