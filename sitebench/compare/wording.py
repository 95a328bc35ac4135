"""The answer in sentences, and its numbers as people read them: for terminal and page alike."""

from __future__ import annotations

from sitebench.compare.comparison import NONE, Analysis, Compared, Row
from sitebench.compare.effect import Design, Ratio
from sitebench.units import format_ns, format_rate

NOTHING = "n/a"

COLUMNS = (
    "p: Mann-Whitney's, of each row by itself. A/A null: the same procedure on repeats of one "
    "side. Could show: the change that repeats like these would find four times in five."
)
"""What the columns mean."""


def value(row: Row, number: float) -> str:
    """Show a value with its unit."""
    if row.measure.unit == "us":
        return format_ns(number * 1e3)
    return format_rate(number)


def percent(ratio: float) -> str:
    """Show a ratio as the change it is, with its sign."""
    return f"{(ratio - 1) * 100:+.1f}%"


def interval(ratio: Ratio) -> str:
    """Show what surely holds the ratio, as changes."""
    if ratio.low is None or ratio.high is None:
        return NOTHING
    return f"{percent(ratio.low)} to {percent(ratio.high)}"


def p(found: float | None) -> str:
    """Show a probability; below 0.0001 its order is all that matters."""
    if found is None:
        return NOTHING
    return f"{found:.4f}" if found >= 0.0001 else f"{found:.0e}"


def detectable(row: Row) -> str:
    """Show the smallest change that these repeats could have shown."""
    least = row.effect.detectable
    return NOTHING if least is None else f"{(least - 1) * 100:.1f}%"


def answer(point: Compared) -> str:
    """Return what there is to say of a point, in a sentence."""
    if not point.rows:
        return f"{point.title}: not compared"
    first, *others = point.rows
    if not first.enough:
        return (
            f"{point.title}: {point.repeats} repeats cannot show a difference here, "
            f"{first.least} could"
        )
    said = _first(first)
    more = [
        f"{row.measure.title} {percent(row.effect.ratio.value)}" for row in others if row.differs
    ]
    return f"{point.title}: {said}" + (f"; {', '.join(more)}" if more else "")


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
    """Return how it was decided, in a sentence."""
    if not analysis.rows:
        return "Nothing was compared."
    how = (
        "pairs of repeats, which of the two came first by lot (Wilcoxon's signed ranks)"
        if analysis.design is Design.PAIRS
        else "all repeats of A against all of B (Mann-Whitney, Hodges-Lehmann)"
    )
    return (
        f"Decided by {how}: a row differs where its interval of {1 - analysis.alpha:.2%} does not "
        f"hold 0%; all {analysis.rows} rows hold together with 95%."
    )
