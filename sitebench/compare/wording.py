"""The answer in sentences and tables, for the terminal and the page."""

from __future__ import annotations

from sitebench.compare.comparison import APART, NONE, WORSE, Analysis, Compared, Design, Row
from sitebench.compare.effect import Effect
from sitebench.tables.table import NOTHING, Cell, Mark, Table
from sitebench.units import format_ns, format_rate

_PAIRS = (
    "Typical pair: difference of B from A within a pair, as the median of the means of every two "
    "pairs; a disturbance of both cancels out, unlike in the medians A and B. A/A null: the same "
    "comparison between repeats of one side. Could show: the change that repeats with this noise "
    "would detect four times in five."
)


def meaning(design: Design) -> str:
    """Return the meaning of the columns; empty for runs that were not interleaved."""
    return _PAIRS if design is Design.PAIRS else ""


def _value(row: Row, number: float) -> str:
    if row.measure.unit == "%":
        return f"{number:.3f}%"
    return format_ns(number * 1e3) if row.measure.unit == "us" else format_rate(number)


def _percent(row: Row, ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.{3 if row.measure.unit == '%' else 1}f}%"


def _interval(row: Row, effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return NOTHING
    return f"{_percent(row, effect.low)} to {_percent(row, effect.high)}"


def detectable(row: Row) -> str:
    least = row.effect.detectable
    return NOTHING if least is None else _percent(row, least).removeprefix("+")


def answer(point: Compared) -> str:
    if not point.rows:
        return f"{point.title}: not compared"
    first, *rest = point.rows
    change = _percent(first, first.effect.ratio)
    title = first.measure.title
    quantity, interval = title[:1].lower() + title[1:], _interval(first, first.effect)
    if first.least is None and first.verdict == APART:
        return f"{point.title}: {Design.APART}: {APART} ({change} {quantity})"
    if first.least is not None and not first.enough:
        return (
            f"{point.title}: too few repeats ({point.repeats}); at least {first.least} are needed"
        )
    if first.least is None:
        medians = f"{_value(first, first.median_a)} and {_value(first, first.median_b)}"
        main = (
            f"B is {first.verdict} ({quantity} {medians}), by more than a machine's drift "
            f"explains; {Design.APART}: do not quote the factor"
        )
    elif first.verdict == NONE:
        main = (
            f"{NONE} in {quantity}: {change} ({interval}); these repeats could have shown "
            f"about {detectable(first)}"
        )
    else:
        verb = "is" if first.measure.judged else "takes"
        main = f"B {verb} {first.verdict}: {change} {quantity} ({interval})"
    failing = point.row("succeeded")
    if failing is not None and failing.verdict in WORSE:
        shares = (_value(failing, failing.median_b), _value(failing, failing.median_a))
        main = "B fails more: {} succeeded, of A {}; {}".format(*shares, main)
    further = [
        f"{row.measure.title} {_percent(row, row.effect.ratio)}"
        for row in rest
        if row.differs and row.least is not None
    ]
    text = "; ".join([f"{point.title}: {main}", *([", ".join(further)] if further else [])])
    if point.costs_only:
        text += f". Rates and latencies were not compared: {point.costs_only}."
    return text


_STAMPS = {
    "slower": "bad",
    "fails more": "bad",
    "faster": "good",
    "fails less": "good",
    "more CPU": "doubt",
    "less CPU": "good",
}
"""Findings about B, worst first, and their CSS classes."""


def stamp(point: Compared) -> tuple[str, str]:
    """Return the answer in a word, and its CSS class.

    A difference in the load generator's own CPU is ignored, as it says nothing about B.
    """
    verdicts = {
        row.verdict for row in point.rows if row.differs and row.measure.key != "generator_cpu"
    }
    for verdict, mark in _STAMPS.items():
        if verdict in verdicts:
            return verdict[:1].upper() + verdict[1:], mark
    if not point.rows or not point.rows[0].enough:
        return "Cannot say", "doubt"
    return ("Rates not compared", "doubt") if point.costs_only else ("No difference", "")


def describe_procedure(analysis: Analysis) -> str:
    if not analysis.rows:
        return "Nothing was compared."
    if analysis.design is Design.APART:
        return (
            "The runs were measured apart, so every ratio of their medians includes changes of "
            "the machine between them. A row is decided only if the 95 % intervals of its "
            "medians are more than a factor of two apart."
        )
    return (
        "Decided by pairs of repeats in random order (Wilcoxon's signed ranks): a row differs "
        "if its interval excludes 0%. If nothing differs, one comparison in twenty finds a "
        f"difference in any of its {analysis.rows} rows; half of that is the first row's."
    )


def tables(point: Compared, design: Design) -> list[Table]:
    if not point.rows:
        return []
    answers: list[list[str | Cell]] = []
    evidence: list[list[str]] = []
    for row in point.rows:
        verdict = Cell(row.verdict, Mark.PRIMARY if row.verdict in WORSE else Mark.PLAIN)
        values = (_value(row, row.median_a), _value(row, row.median_b))
        change = (_percent(row, row.effect.ratio), _interval(row, row.effect))
        answers.append([row.measure.title, *values, *change, verdict])
        null = (NOTHING, NOTHING)
        if row.null is not None:
            null = (_percent(row, row.null.ratio), _interval(row, row.null))
        evidence.append([row.measure.title, *null, detectable(row)])
    title = f"{point.title} ({point.repeats} {design})"
    ratio = "typical pair" if design is Design.PAIRS else "B/A"
    tables = [Table(title, ("Median of", "A", "B", ratio, "interval", "B is"), answers)]
    if design is Design.PAIRS:
        columns = ("Evidence", "A/A null", "its interval", "could show")
        tables.append(Table("", columns, evidence))
    return tables
