"""What a procedure says of two sides: the ratio with its interval, and the tests beside it.

There are two procedures, for repeats that belong together in pairs and for two groups of them,
and each has an A/A null: the same procedure, with as many values, where nothing can differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sitebench.compare.statistics import (
    RankTest,
    Shift,
    detectable,
    group_shift,
    least_groups,
    least_pairs,
    mann_whitney,
    pair_shift,
    signed_rank,
)

Logs = Sequence[float]
"""Logarithms of measured values: their differences are ratios."""


class Design(StrEnum):
    """How the repeats of A and B belong together."""

    PAIRS = "pairs"
    GROUPS = "groups"


@dataclass(frozen=True)
class Ratio:
    """B over A; no bounds where there are too few values for any."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, shift: Shift) -> Ratio:
        """Turn a shift of logarithms into the ratio it is."""
        bounds = [None if x is None else math.exp(x) for x in (shift.low, shift.high)]
        return cls(math.exp(shift.estimate), *bounds)

    @property
    def differs(self) -> bool:
        """Whether 1 is outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)

    def to_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"ratio": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Effect:
    """What one procedure says of two sides."""

    ratio: Ratio
    mann_whitney: RankTest
    signed_rank: RankTest | None
    detectable: float | None
    """The smallest ratio above 1 that repeats like these would show four times in five."""


def effect(a: Logs, b: Logs, design: Design, alpha: float) -> Effect:
    """Hold B's repeats against A's."""
    groups = mann_whitney(a, b)
    if design is Design.GROUPS:
        return _effect(group_shift(a, b, alpha), groups, None, alpha)
    told = [y - x for x, y in zip(a, b, strict=True)]
    return _effect(pair_shift(told, alpha), groups, signed_rank(told), alpha)


def null(a: Logs, b: Logs, design: Design, alpha: float) -> Effect | None:
    """Hold odd repeats against even ones of the same side; None where there are not two.

    In pairs they are A's neighbours and B's: as many pairs as there are of A and B. In groups,
    each side is taken about its own median.
    """
    if design is Design.GROUPS:
        a, b = ([x - statistics.median(side) for x in side] for side in (a, b))
    mine, theirs = halves(a), halves(b)
    odd, even = mine[0] + theirs[0], mine[1] + theirs[1]
    return effect(odd, even, design, alpha) if odd else None


def halves(values: Logs) -> tuple[list[float], list[float]]:
    """Return odd against even repeats, in the order 1 2, 4 3, 5 6, 8 7: a drift cancels out."""
    pairs = [values[n : n + 2] for n in range(0, len(values) - 1, 2)]
    turned = [pair[::-1] if n % 2 else pair for n, pair in enumerate(pairs)]
    return [pair[0] for pair in turned], [pair[1] for pair in turned]


def least_repeats(design: Design, alpha: float) -> int:
    """Return how many repeats it takes before the procedure can find anything."""
    return least_pairs(alpha) if design is Design.PAIRS else least_groups(alpha)


def _effect(shift: Shift, groups: RankTest, pairs: RankTest | None, alpha: float) -> Effect:
    least = detectable(shift, alpha)
    return Effect(Ratio.of(shift), groups, pairs, None if least is None else math.exp(least))
