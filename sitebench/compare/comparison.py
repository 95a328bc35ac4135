"""Two runs compared: figures, intervals, and the answer in words.

How it is decided: every point has a row per measure. A row has an interval around the ratio B/A,
and differs if that interval excludes 1. All intervals of a comparison together have 95 %
confidence: with m rows each has 1 - 0.05 / m (Bonferroni), so that one comparison in twenty, not
one row in twenty, finds a difference where nothing differs.

Interleaved runs are analysed as pairs, others as two groups (see `statistics`). Each answer has an
A/A null beside it: the same procedure, with as many values, on repeats of the same side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sitebench.compare.effect import Design, Effect, effect, least_repeats, null
from sitebench.compare.matching import Matched, title
from sitebench.runs.point import PointResult

_FAMILY_ALPHA = 0.05
"""Probability that a comparison finds a difference in any row if nothing differs."""

_LEAST_REPEATS = 5
"""Nothing is claimed with fewer repeats (rule 10 of the method)."""

_MOST_LEFT_OUT = 0.25
"""A point with a larger share of invalid repeats is not compared."""

NONE = "no detectable difference"
TOO_FEW = "too few repeats"


@dataclass(frozen=True)
class Measure:
    """One value of a repeat; `more` and `less` say what B is if it has more or less of it."""

    key: str
    title: str
    of: Callable[[PointResult], float | None]
    more: str
    less: str
    unit: str


def _target_cpu(result: PointResult) -> float | None:
    seconds = result.use.target_cpu_s
    return None if seconds is None or not result.operations else seconds / result.operations * 1e6


WORSE = frozenset(("slower", "more CPU"))
"""Answers that are bad for B."""

_MEASURES = (
    Measure("ops_per_s", "Operations/s", lambda r: r.ops_per_s, "faster", "slower", "operations/s"),
    Measure("p50", "Latency p50", lambda r: r.latency.percentiles["p50"], "slower", "faster", "us"),
    Measure("p99", "Latency p99", lambda r: r.latency.percentiles["p99"], "slower", "faster", "us"),
    Measure("target_cpu", "Target CPU/op", _target_cpu, "more CPU", "less CPU", "us"),
    Measure(
        "generator_cpu",
        "Generator CPU/op",
        lambda r: r.cpu_us_per_op,
        "more CPU",
        "less CPU",
        "us",
    ),
)


@dataclass(frozen=True)
class Row:
    """One measure of one point: the values of both sides' repeats, and their comparison."""

    measure: Measure
    a: tuple[float, ...]
    b: tuple[float, ...]
    effect: Effect
    null: Effect | None
    least: int
    """How many repeats a row of this comparison needs before it can differ."""

    @property
    def median_a(self) -> float:
        """The median over A's repeats."""
        return statistics.median(self.a)

    @property
    def median_b(self) -> float:
        """The median over B's repeats."""
        return statistics.median(self.b)

    @property
    def enough(self) -> bool:
        """Whether there are enough repeats to claim a difference."""
        return min(len(self.a), len(self.b)) >= self.least

    @property
    def differs(self) -> bool:
        """Whether a difference is claimed."""
        return self.enough and self.effect.differs

    @property
    def verdict(self) -> str:
        """What B is, in words."""
        if not self.enough:
            return TOO_FEW
        if not self.differs:
            return NONE
        return self.measure.more if self.effect.ratio > 1 else self.measure.less

    @property
    def alarmed(self) -> bool:
        """Whether the A/A null finds a difference."""
        return self.enough and self.null is not None and self.null.differs


@dataclass(frozen=True)
class Compared:
    """One point that both runs have: its rows, and what was left out."""

    matched: Matched
    title: str
    rows: tuple[Row, ...]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]

    def row(self, key: str) -> Row | None:
        return next((row for row in self.rows if row.measure.key == key), None)

    @property
    def repeats(self) -> int:
        """How many repeats of each side were compared, the lesser number."""
        return min((min(len(row.a), len(row.b)) for row in self.rows), default=0)


@dataclass(frozen=True)
class Analysis:
    """Every point, and how it was compared."""

    design: Design
    rows: int
    alpha: float
    points: tuple[Compared, ...]


_Values = tuple[Measure, list[float], list[float]]


def analyse(matched: Sequence[Matched], design: Design) -> Analysis:
    """Compare every point that both runs have."""
    kept = [_valid(each, design) for each in matched]
    found = [_values(a, b) for a, b, _ in kept]
    count = sum(len(values) for values, _ in found)
    alpha = _FAMILY_ALPHA / max(1, count)
    points = tuple(
        Compared(
            each,
            title(each.a.spec),
            tuple(_row(measure, a, b, design, alpha) for measure, a, b in values),
            tuple(left_out),
            tuple(missing),
        )
        for each, (_, _, left_out), (values, missing) in zip(matched, kept, found, strict=True)
    )
    return Analysis(design, count, alpha, points)


def _valid(
    matched: Matched, design: Design
) -> tuple[list[PointResult], list[PointResult], list[str]]:
    """Return both sides' valid repeats, of pairs those whose partner is valid, and the others."""
    sides = [{r.spec.repeat: r for r in side.results} for side in (matched.a, matched.b)]
    invalid = [
        f"{name} repeat {n + 1}: {r.verdict.bound} ({r.verdict.evidence})"
        for name, side in zip("AB", sides, strict=True)
        for n, r in side.items()
        if not r.verdict.valid
    ]
    valid = [{n: r for n, r in side.items() if r.verdict.valid} for side in sides]
    if any(len(v) < (1 - _MOST_LEFT_OUT) * len(s) for v, s in zip(valid, sides, strict=True)):
        return [], [], [*invalid, "too many of them: the point is not compared"]
    if design is Design.PAIRS:
        common = sorted(valid[0].keys() & valid[1].keys())
        valid = [{n: side[n] for n in common} for side in valid]
    return list(valid[0].values()), list(valid[1].values()), invalid


def _values(
    results_a: Sequence[PointResult], results_b: Sequence[PointResult]
) -> tuple[list[_Values], list[str]]:
    """Return the values of each measure; a measure that a repeat lacks is listed instead."""
    found, missing = [], []
    for measure in _MEASURES:
        a, b = ([measure.of(result) for result in side] for side in (results_a, results_b))
        if not a or not b:
            continue
        mine, theirs = ([x for x in side if x is not None and x > 0] for side in (a, b))
        without = len(a) + len(b) - len(mine) - len(theirs)
        if without:
            missing.append(f"{measure.title}: {without} of {len(a) + len(b)} repeats have none")
        else:
            found.append((measure, mine, theirs))
    return found, missing


def _row(
    measure: Measure, a: Sequence[float], b: Sequence[float], design: Design, alpha: float
) -> Row:
    logs_a, logs_b = ([math.log(x) for x in side] for side in (a, b))
    return Row(
        measure,
        tuple(a),
        tuple(b),
        effect(logs_a, logs_b, design, alpha),
        null(logs_a, logs_b, design, alpha),
        max(_LEAST_REPEATS, least_repeats(design, alpha)),
    )
