"""The answer in sentences, and formatted figures, for the terminal and the page."""

from __future__ import annotations

from sitebench.compare.comparison import NONE, Analysis, Compared, Row
from sitebench.compare.effect import Design, Ratio
from sitebench.units import format_ns, format_rate

NOTHING = "n/a"

COLUMNS = (
    "A/A null: the same procedure on repeats of one side. Could show: the change that repeats "
    "as noisy as these would find four times in five."
)
"""The meaning of the columns."""


def value(row: Row, number: float) -> str:
    if row.measure.unit == "us":
        return format_ns(number * 1e3)
    return format_rate(number)


def percent(ratio: float) -> str:
    """Format a ratio as a change in percent."""
    return f"{(ratio - 1) * 100:+.1f}%"


def interval(ratio: Ratio) -> str:
    """Format the interval of a ratio as changes in percent."""
    if ratio.low is None or ratio.high is None:
        return NOTHING
    return f"{percent(ratio.low)} to {percent(ratio.high)}"


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
    main = _first(first)
    more = [
        f"{row.measure.title} {percent(row.effect.ratio.value)}" for row in others if row.differs
    ]
    return f"{point.title}: {main}" + (f"; {', '.join(more)}" if more else "")


def _first(row: Row) -> str:
    ratio = row.effect.ratio
    if row.verdict == NONE:
        return (
            f"{NONE} in {row.measure.title.lower()}: {percent(ratio.value)} ({interval(ratio)}); "
            f"these repeats could have shown {detectable(row)}"
        )
    return (
        f"B is {row.verdict}: {percent(ratio.value)} {row.measure.title.lower()} "
        f"({interval(ratio)})"
    )


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
