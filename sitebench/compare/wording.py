"""The answer in sentences and tables, for the terminal and the page."""

from __future__ import annotations

from sitebench.compare.comparison import NONE, WORSE, Analysis, Compared, Row
from sitebench.compare.effect import Design, Effect
from sitebench.report.table import NOTHING, Cell, Mark, Table
from sitebench.units import format_ns, format_rate

COLUMNS = (
    "A/A null: the same procedure on repeats of one side. Could show: the change that repeats "
    "as noisy as these would find four times in five."
)
"""The meaning of the columns."""


def _value(row: Row, number: float) -> str:
    return format_ns(number * 1e3) if row.measure.unit == "us" else format_rate(number)


def _percent(ratio: float) -> str:
    """Format a ratio as a change in percent."""
    return f"{(ratio - 1) * 100:+.1f}%"


def _interval(effect: Effect) -> str:
    """Format the interval of a ratio as changes in percent."""
    if effect.low is None or effect.high is None:
        return NOTHING
    return f"{_percent(effect.low)} to {_percent(effect.high)}"


def detectable(row: Row) -> str:
    least = row.effect.detectable
    return NOTHING if least is None else f"{(least - 1) * 100:.1f}%"


def answer(point: Compared) -> str:
    """Return the answer for a point in a sentence."""
    if not point.rows:
        return f"{point.title}: not compared"
    first, *others = point.rows
    if not first.enough:
        return (
            f"{point.title}: {point.repeats} repeats cannot show a difference here, "
            f"{first.least} could"
        )
    change = _percent(first.effect.ratio)
    what, interval = first.measure.title.lower(), _interval(first.effect)
    if first.verdict == NONE:
        main = (
            f"{NONE} in {what}: {change} ({interval}); these repeats could have shown "
            f"{detectable(first)}"
        )
    else:
        main = f"B is {first.verdict}: {change} {what} ({interval})"
    more = [f"{row.measure.title} {_percent(row.effect.ratio)}" for row in others if row.differs]
    return f"{point.title}: {main}" + (f"; {', '.join(more)}" if more else "")


def decided(analysis: Analysis) -> str:
    """Describe the procedure in a sentence."""
    if not analysis.rows:
        return "Nothing was compared."
    how = (
        "pairs of repeats in random order (Wilcoxon's signed ranks)"
        if analysis.design is Design.PAIRS
        else "all repeats of A against all of B (Mann-Whitney, Hodges-Lehmann)"
    )
    return (
        f"Decided by {how}: a row differs if its {1 - analysis.alpha:.2%} interval excludes 0%; "
        f"all {analysis.rows} rows together have 95% confidence."
    )


def tables(point: Compared, design: Design) -> list[Table]:
    """Return B against A, and how certain that is."""
    if not point.rows:
        return []
    answers: list[list[str | Cell]] = []
    evidence: list[list[str]] = []
    for row in point.rows:
        verdict = Cell(row.verdict, Mark.PRIMARY if row.verdict in WORSE else Mark.PLAIN)
        values = (_value(row, row.median_a), _value(row, row.median_b))
        change = (_percent(row.effect.ratio), _interval(row.effect))
        answers.append([row.measure.title, *values, *change, verdict])
        null = (NOTHING, NOTHING)
        if row.null is not None:
            null = (_percent(row.null.ratio), _interval(row.null))
        evidence.append([row.measure.title, *null, detectable(row)])
    title = f"{point.title} ({point.repeats} {design})"
    return [
        Table(title, ("Median of", "A", "B", "B/A", "interval", "B is"), answers),
        Table("", ("Evidence", "A/A null", "its interval", "could show"), evidence),
    ]
