"""Two runs held against each other: numbers, intervals, and the answer in words.

How it is decided. Every point has a row per measure. A row is answered by an interval around the
ratio B/A, and says that there is a difference where that interval does not hold 1. All intervals
of a comparison hold together with 95 % confidence: with m rows each has 1 - 0.05 / m (Bonferroni),
so that one comparison in twenty, not one row in twenty, finds a difference where none is.

Runs that were interleaved are analysed as pairs, others as two groups (see `statistics`);
Mann-Whitney's p is given for both. Beside each answer stands its A/A null: the same procedure,
with as many values, on repeats of the same side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sitebench.compare.effect import Design, Effect, effect, least_repeats, null
from sitebench.compare.matching import Matched, title
from sitebench.compare.measures import MEASURES, Measure
from sitebench.runs.point import PointResult

FAMILY_ALPHA = 0.05
"""How often a comparison may find a difference, in any of its rows, where there is none."""

LEAST_REPEATS = 5
"""Fewer repeats claim nothing (rule 10 of the method)."""

MOST_LEFT_OUT = 0.25
"""A point of which more repeats than this share are no numbers is not compared at all."""

NONE = "no detectable difference"
TOO_FEW = "too few repeats"


@dataclass(frozen=True)
class Row:
    """One measure of one point: every repeat's value of both sides, and what follows."""

    measure: Measure
    a: tuple[float, ...]
    b: tuple[float, ...]
    effect: Effect
    null: Effect | None
    least: int
    """How many repeats it takes before a row of this comparison can say anything."""

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
        """Whether there are repeats enough to claim anything."""
        return min(len(self.a), len(self.b)) >= self.least

    @property
    def differs(self) -> bool:
        """Whether a difference is claimed."""
        return self.enough and self.effect.ratio.differs

    @property
    def verdict(self) -> str:
        """The answer in words: what B is."""
        if not self.enough:
            return TOO_FEW
        if not self.differs:
            return NONE
        return self.measure.more if self.effect.ratio.value > 1 else self.measure.less

    @property
    def alarmed(self) -> bool:
        """Whether the A/A null finds a difference where there is none."""
        return self.enough and self.null is not None and self.null.ratio.differs


@dataclass(frozen=True)
class Compared:
    """One point that both runs have: its rows, and what could not be said of it."""

    matched: Matched
    title: str
    rows: tuple[Row, ...]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]

    def row(self, key: str) -> Row | None:
        """Return the row of a measure."""
        return next((row for row in self.rows if row.measure.key == key), None)

    @property
    def repeats(self) -> int:
        """How many repeats of either side were compared, the lesser."""
        return min((min(len(row.a), len(row.b)) for row in self.rows), default=0)


@dataclass(frozen=True)
class _Kept:
    """Repeats of a point that are numbers of the target."""

    matched: Matched
    a: tuple[PointResult, ...]
    b: tuple[PointResult, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Analysis:
    """Every point, and how it was decided."""

    design: Design
    rows: int
    alpha: float
    points: tuple[Compared, ...]


_Values = tuple[Measure, list[float], list[float]]


def analyse(matched: Sequence[Matched], design: Design) -> Analysis:
    """Hold every point that both runs have against the other run's."""
    kept = [_keep(each, design) for each in matched]
    found = [_values(each) for each in kept]
    count = sum(len(values) for values, _ in found)
    alpha = FAMILY_ALPHA / max(1, count)
    points = tuple(
        Compared(
            each.matched,
            title(each.matched.a.spec),
            tuple(_row(measure, a, b, design, alpha) for measure, a, b in values),
            each.left_out,
            tuple(missing),
        )
        for each, (values, missing) in zip(kept, found, strict=True)
    )
    return Analysis(design, count, alpha, points)


def _keep(matched: Matched, design: Design) -> _Kept:
    """Leave out repeats that are no numbers, with their partners, and say which."""
    sides = [{r.spec.repeat: r for r in side.results} for side in (matched.a, matched.b)]
    said = [
        f"{name} repeat {n + 1}: {r.verdict.bound} ({r.verdict.evidence})"
        for name, side in zip("AB", sides, strict=True)
        for n, r in side.items()
        if not r.verdict.valid
    ]
    valid = [{n: r for n, r in side.items() if r.verdict.valid} for side in sides]
    if any(len(v) < (1 - MOST_LEFT_OUT) * len(s) for v, s in zip(valid, sides, strict=True)):
        return _Kept(matched, (), (), (*said, "too many of them: the point is not compared"))
    if design is Design.PAIRS:
        common = sorted(valid[0].keys() & valid[1].keys())
        valid = [{n: side[n] for n in common} for side in valid]
    return _Kept(matched, tuple(valid[0].values()), tuple(valid[1].values()), tuple(said))


def _values(kept: _Kept) -> tuple[list[_Values], list[str]]:
    """Return each measure's numbers; a measure that a repeat lacks is named instead."""
    found, missing = [], []
    for measure in MEASURES:
        a, b = ([measure.of(result) for result in side] for side in (kept.a, kept.b))
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
        max(LEAST_REPEATS, least_repeats(design, alpha)),
    )
