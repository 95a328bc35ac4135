"""A comparison on the terminal, and as JSON."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict
from rich.console import Console

from sitebench.compare import wording as words
from sitebench.compare.comparison import Compared, Row
from sitebench.compare.runs import Comparison
from sitebench.errors import printable
from sitebench.tables.terminal import to_terminal


def show(comparison: Comparison, console: Console) -> None:
    _say(console, f"A  {comparison.a.label}   ({comparison.a.path})")
    _say(console, f"B  {comparison.b.label}   ({comparison.b.path})")
    for difference in comparison.options:
        _say(console, f"   {difference.name}: {difference.a} / {difference.b}")
    console.print()
    for point in comparison.analysis.points:
        _say(console, words.answer(point), style="bold")
    for remark in comparison.remarks:
        _say(console, f"! {remark.message}", style="yellow")
        _say(console, f"  {remark.remedy}", style="dim")
    console.print()
    for point in comparison.analysis.points:
        for table in words.tables(point, comparison.analysis.design):
            console.print(to_terminal(table))
        for line in (*point.left_out, *map(str, point.missing)):
            _say(console, f"left out: {line}", style="dim")
        console.print()
    _say(console, words.describe_procedure(comparison.analysis))
    if meaning := words.meaning(comparison.analysis.design):
        _say(console, meaning)


def _say(console: Console, line: str, style: str | None = None) -> None:
    console.print(printable(line), style=style, highlight=False, markup=False, soft_wrap=True)


def to_json(comparison: Comparison) -> dict[str, Any]:
    analysis = comparison.analysis
    return {
        "a": {"label": comparison.a.label, "file": str(comparison.a.path)},
        "b": {"label": comparison.b.label, "file": str(comparison.b.path)},
        "compared": [{"name": d.name, "a": d.a, "b": d.b} for d in comparison.options],
        "design": analysis.design,
        "rows": analysis.rows,
        "points": [_point(point) for point in analysis.points],
        "remarks": [{"message": r.message, "remedy": r.remedy} for r in comparison.remarks],
    }


def _point(point: Compared) -> dict[str, Any]:
    spec = point.matched.a.spec
    return {
        "point": point.title,
        "operation": point.matched.operation or spec.operation,
        "entries": spec.entries,
        "users": spec.users,
        "rate": spec.rate,
        "answer": words.answer(point),
        "measures": {row.measure.key: _row(row) for row in point.rows},
        "left_out": list(point.left_out),
        "missing": list(map(str, point.missing)),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "a": list(row.a),
        "b": list(row.b),
        "median_a": row.median_a,
        "median_b": row.median_b,
        "alpha": row.alpha,
        **asdict(row.effect),
        "null": None if row.null is None else asdict(row.null) | {"alarmed": row.alarm},
        "verdict": row.verdict,
        "differs": row.differs,
        "least_repeats": row.least,
    }
