"""Two runs compared: figures, intervals, and the answer in words.

Every point has a row per measure, and a row differs if the interval around its ratio B/A excludes
1. docs/comparing.md describes the procedure, its A/A null, and runs measured apart.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial

import msgspec

from sitebench.compare.effect import Effect, effect, null
from sitebench.compare.matching import Matched
from sitebench.compare.statistics import least_pairs
from sitebench.counts.metrics import LATENCY
from sitebench.measure.objective import METRICS
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, median_interval
from sitebench.verdict.verdict import Bound, Quoted

_FAMILY_ALPHA = 0.05

_FIRST = 0.5
"""The first row's share of a point's probability of error; the other rows share the rest."""

_LEAST_REPEATS = 5
"""The least number of repeats for a claim (rule 10 of the method)."""

_MOST_LEFT_OUT = 0.25
_MANY_LEFT_OUT = "more than a quarter of its repeats"

_BEYOND_DRIFT = 2.0
"""Runs that were not interleaved differ if this factor, or more, lies between their intervals."""

NONE = "no detectable difference"
TOO_FEW = "too few repeats"
APART = "not decided"


class Design(StrEnum):
    """How the repeats of A and B belong together."""

    PAIRS = "pairs"
    APART = "measured apart"


_Side = Mapping[int, PointResult]


class Measure(msgspec.Struct, frozen=True):
    """One value of a repeat.

    `if_more` is the verdict if the value of B is larger, `if_less` if it is smaller.
    """

    key: str
    title: str
    value_of: Callable[[PointResult], float | None]
    if_more: str
    if_less: str
    unit: str
    judged: bool = True
    """Whether the measure decides if B is slower; CPU per operation does not."""


def _latency(name: str, result: PointResult) -> float | None:
    return result.clocks[LATENCY].percentiles[name]


def _success_percent(result: PointResult) -> float | None:
    failed = METRICS["failures"].read(result)
    return None if failed is None else 100.0 - failed


def _target_cpu(result: PointResult) -> float | None:
    seconds = result.use.target_cpu_s
    return None if seconds is None or not result.operations else seconds / result.operations * 1e6


WORSE = frozenset(("slower", "fails more", "more CPU"))

_MEASURES = (
    Measure("ops_per_s", "Operations/s", lambda r: r.ops_per_s, "faster", "slower", "operations/s"),
    Measure("p50", "Latency p50", partial(_latency, "p50"), "slower", "faster", "us"),
    Measure("p95", "Latency p95", partial(_latency, "p95"), "slower", "faster", "us"),
    Measure("p99", "Latency p99", partial(_latency, "p99"), "slower", "faster", "us"),
    Measure("succeeded", "Succeeded", _success_percent, "fails less", "fails more", "%"),
    Measure("target_cpu", "Target CPU/op", _target_cpu, "more CPU", "less CPU", "us", judged=False),
    Measure(
        "generator_cpu",
        "Generator CPU/op",
        lambda r: r.cpu_us_per_op,
        "more CPU",
        "less CPU",
        "us",
        judged=False,
    ),
)


_OF_OPERATIONS = frozenset(("p50", "p95", "succeeded"))
"""Measures that an operation of a mix has: its rate follows from the mix, its CPU is unknown."""


class Row(msgspec.Struct, frozen=True):
    measure: Measure
    a: tuple[float, ...]
    b: tuple[float, ...]
    alpha: float
    """The probability that the interval excludes 1 although nothing differs."""
    effect: Effect
    null: Effect | None
    least: int | None
    """The least number of repeats with which the row can differ; None: no number is enough."""

    @property
    def median_a(self) -> float:
        return statistics.median(self.a)

    @property
    def median_b(self) -> float:
        return statistics.median(self.b)

    @property
    def enough(self) -> bool:
        return self.least is not None and min(len(self.a), len(self.b)) >= self.least

    @property
    def differs(self) -> bool:
        if self.least is None:
            return self._beyond_drift
        return self.enough and self.effect.differs

    @property
    def _beyond_drift(self) -> bool:
        a, b = median_interval(self.a), median_interval(self.b)
        if a is None or b is None:
            return False
        return b.low > _BEYOND_DRIFT * a.high or a.low > _BEYOND_DRIFT * b.high

    @property
    def verdict(self) -> str:
        if self.differs:
            return self.measure.if_more if self.effect.ratio > 1 else self.measure.if_less
        if self.least is None:
            return APART
        return NONE if self.enough else TOO_FEW

    @property
    def alarm(self) -> bool:
        return self.enough and self.null is not None and self.null.differs


class Missing(msgspec.Struct, frozen=True):
    """A measure that is not compared, as some repeats lack it."""

    measure: Measure
    lacking: int
    repeats: int

    def __str__(self) -> str:
        return f"{self.measure.title}: {self.lacking} of {self.repeats} repeats have none"


class Compared(msgspec.Struct, frozen=True):
    matched: Matched
    rows: tuple[Row, ...]
    left_out: tuple[str, ...]
    missing: tuple[Missing, ...]
    costs_only: str = ""
    """The reason for comparing only the cost of an operation; empty if all is compared."""

    @property
    def title(self) -> str:
        return self.matched.title

    def row(self, key: str) -> Row | None:
        return next((row for row in self.rows if row.measure.key == key), None)

    @property
    def repeats(self) -> int:
        return min((min(len(row.a), len(row.b)) for row in self.rows), default=0)

    @property
    def slower(self) -> bool:
        return any(row.verdict in WORSE for row in self.rows if row.measure.judged)

    @property
    def undecided(self) -> str:
        """The reason why this point does not show whether B is slower; empty if it does."""
        if not self.rows:
            return "not compared"
        judged = [row for row in self.rows if row.measure.judged]
        if not judged:
            return "its rates are not compared"
        if any(row.least is None for row in judged):
            return "" if self._faster_beyond_drift else f"{Design.APART}: {APART}"
        lacking = [measure for measure in self.missing if measure.measure.judged]
        reasons = {
            TOO_FEW + " for": [row.measure for row in judged if not row.enough],
            "the A/A null finds a difference in": [row.measure for row in judged if row.alarm],
            "no repeat has a": [m.measure for m in lacking if m.lacking == m.repeats],
            "some repeats have no": [m.measure for m in lacking if m.lacking < m.repeats],
        }
        return "; ".join(
            f"{reason} {', '.join(measure.title.lower() for measure in measures)}"
            for reason, measures in reasons.items()
            if measures
        )

    @property
    def _faster_beyond_drift(self) -> bool:
        succeeded = self.row("succeeded")
        fails_more = succeeded is not None and succeeded.median_b < succeeded.median_a
        return self.rows[0].verdict == "faster" and not self.slower and not fails_more


class Analysis(msgspec.Struct, frozen=True):
    design: Design
    rows: int
    points: tuple[Compared, ...]


_Values = tuple[Measure, list[float], list[float]]


def analyse(matched: Sequence[Matched], design: Design, planned: int = 0) -> Analysis:
    """Compare every point of both runs whose planned repeats are complete."""
    repeats = [
        (point, _valid(point, design, planned))
        for whole in matched
        for point in (whole, *whole.operations)
    ]
    # The reason why a mix is not compared is given once for the mix, not once for each operation.
    repeats = [
        (point, sides)
        for point, sides in repeats
        if not point.operation or (sides[0] and not sides[3])
    ]
    measured = [_values(point, a, b, costs_only) for point, (a, b, _, costs_only) in repeats]
    alpha = _FAMILY_ALPHA / max(1, sum(bool(values) for values, _ in measured))
    points = tuple(
        Compared(
            point,
            _rows(values, design, alpha),
            () if point.operation else tuple(left_out),
            tuple(missing),
            costs_only,
        )
        for (point, (_, _, left_out, costs_only)), (values, missing) in zip(
            repeats, measured, strict=True
        )
    )
    return Analysis(design, sum(len(point.rows) for point in points), points)


def _valid(
    matched: Matched, design: Design, planned: int
) -> tuple[list[PointResult], list[PointResult], list[str], str]:
    """Return both sides' valid repeats, and the reasons why the other repeats are left out.

    Both repeats of a pair must be valid. If the load generator was the limit of too many repeats,
    the cost of an operation can still be compared; the last returned text gives the reason.
    """
    sides = [{r.spec.repeat: r for r in side.results} for side in (matched.a, matched.b)]
    if (finished := min(map(len, sides))) < planned:
        waiting = f"{finished} of {planned} repeats are measured: the comparison follows the last"
        return [], [], [waiting], ""
    invalid = [line for name, side in zip("AB", sides, strict=True) for line in _faults(name, side)]
    valid = [{n: r for n, r in side.items() if r.verdict.valid} for side in sides]
    costs_only = ""
    if _too_few(valid, sides):
        usable = Quoted.MEASURED, Quoted.AT_LEAST
        valid = [{n: r for n, r in side.items() if r.verdict.grade in usable} for side in sides]
        if _too_few(valid, sides):
            return [], [], [*invalid, f"{_MANY_LEFT_OUT}: the point is not compared"], ""
        costs_only = _limits(sides)
        invalid.append(f"{_MANY_LEFT_OUT}: only what an operation costs the target is compared")
    if design is Design.PAIRS:
        common = sorted(valid[0].keys() & valid[1].keys())
        valid = [{n: side[n] for n in common} for side in valid]
    return list(valid[0].values()), list(valid[1].values()), invalid, costs_only


def _limits(sides: Sequence[_Side]) -> str:
    """Describe what limited repeats instead of the target, and how many repeats on each side."""
    parts = []
    for bound, words in (
        (Bound.GENERATOR, "the load generator was the limit"),
        (Bound.OTHERS, "other programs had the cores"),
    ):
        counts = [sum(result.verdict.bound == bound for result in side.values()) for side in sides]
        repeats = [
            f"{count} of {len(side)} repeats of {name}"
            for name, count, side in zip("AB", counts, sides, strict=True)
            if count
        ]
        if repeats:
            parts.append(f"{words} in {' and '.join(repeats)}")
    return ", ".join(parts)


def _faults(name: str, side: _Side) -> Iterator[str]:
    """Yield each reason for which repeats are invalid, with the evidence of the first of them."""
    spoiled: dict[str, list[PointResult]] = {}
    for result in side.values():
        if not result.verdict.valid:
            spoiled.setdefault(result.verdict.bound, []).append(result)
    for bound, results in spoiled.items():
        numbers = [result.spec.repeat + 1 for result in results]
        first_repeat = f"repeat {numbers[0]}"
        repeats = first_repeat if len(numbers) == 1 else f"{len(numbers)} of {len(side)} repeats"
        first = "" if len(numbers) == 1 else f"{first_repeat}: "
        yield f"{name} {repeats}: {bound} ({first}{results[0].verdict.evidence})"


def _too_few(valid: Sequence[_Side], sides: Sequence[_Side]) -> bool:
    pairs = zip(valid, sides, strict=True)
    return any(len(some) < (1 - _MOST_LEFT_OUT) * len(side) for some, side in pairs)


def _values(
    point: Matched,
    results_a: Sequence[PointResult],
    results_b: Sequence[PointResult],
    costs_only: str,
) -> tuple[list[_Values], list[Missing]]:
    """Return the values of each measure, and the measures that a repeat lacks."""
    values, missing = list[_Values](), []
    for measure in _MEASURES:
        if (costs_only and measure.key != "target_cpu") or (
            point.operation and measure.key not in _OF_OPERATIONS
        ):
            continue
        a, b = ([measure.value_of(result) for result in side] for side in (results_a, results_b))
        if not a or not b or (measure.key == "succeeded" and {*a, *b} == {100.0}):
            continue
        values_a, values_b = ([x for x in side if x is not None and x > 0] for side in (a, b))
        if len(values_a) == len(a) and len(values_b) == len(b):
            # If B is slower, a lower bound of B's latency still shows that B is slower. With any
            # other lower bound, the ratio would not be known.
            bounded = [
                [measure.key in r.clocks[LATENCY].at_least for r in s]
                for s in (results_a, results_b)
            ]
            if statistics.median(values_b) > statistics.median(values_a):
                bounded[1] = []
            lacking = sum(map(sum, bounded))
        else:
            lacking = len(a) + len(b) - len(values_a) - len(values_b)
        if lacking:
            missing.append(Missing(measure, lacking, len(a) + len(b)))
        else:
            values.append((measure, values_a, values_b))
    first = "ops_per_s" if point.a.spec.rate is None else "p50"
    return sorted(values, key=lambda row: row[0].key != first), missing


def _rows(values: Sequence[_Values], design: Design, alpha: float) -> tuple[Row, ...]:
    if not values:
        return ()
    first = _row(*values[0], design, _FIRST * alpha)
    rest = _rest(alpha, len(values), first_differs=first.differs)
    return first, *(_row(*pair, design, rest) for pair in values[1:])


def _rest(alpha: float, rows: int, *, first_differs: bool = False) -> float:
    """Return the part of `alpha` for each row but the first."""
    return (alpha if first_differs else (1 - _FIRST) * alpha) / max(1, rows - 1)


def repeats_to_tell(points: int, one: Series) -> int:
    """Return the number of pairs needed to show, for `points` points, that B is not slower."""
    (result,) = one.results
    values = {measure.key: measure.value_of(result) for measure in _MEASURES}
    rows = sum(x is not None and x > 0 for x in values.values())
    if values["succeeded"] == 100.0:
        rows -= 1
    return _least(_rest(_FAMILY_ALPHA / (points * (1 + len(one.parts))), rows))


def _least(alpha: float) -> int:
    return max(_LEAST_REPEATS, least_pairs(alpha))


LEAST_TO_DIFFER = _least(_FIRST * _FAMILY_ALPHA)
"""The least number of pairs that can show a difference of one point; several points need more."""


def _row(
    measure: Measure, a: Sequence[float], b: Sequence[float], design: Design, alpha: float
) -> Row:
    if design is Design.APART:
        ratio = statistics.median(b) / statistics.median(a)
        return Row(measure, tuple(a), tuple(b), alpha, Effect(ratio, None, None, None), None, None)
    logs_a, logs_b = ([math.log(x) for x in side] for side in (a, b))
    return Row(
        measure,
        tuple(a),
        tuple(b),
        alpha,
        effect(logs_a, logs_b, alpha),
        null(logs_a, logs_b, alpha),
        _least(alpha),
    )
