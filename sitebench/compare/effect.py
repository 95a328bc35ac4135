"""The ratio of two sides with its interval, and its A/A null.

There are two procedures, for repeats in pairs and for two groups of repeats. The A/A null of each
is the same procedure with as many values where nothing can differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sitebench.compare.statistics import (
    Shift,
    detectable,
    group_shift,
    least_groups,
    least_pairs,
    pair_shift,
)

_Logs = Sequence[float]
"""Logarithms of measured values: their differences are ratios."""


class Design(StrEnum):
    """How the repeats of A and B belong together."""

    PAIRS = "pairs"
    GROUPS = "groups"


@dataclass(frozen=True)
class Ratio:
    """B over A; no bounds if there are too few values."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, shift: Shift) -> Ratio:
        """Return the ratio that a shift of logarithms is."""
        bounds = [None if x is None else math.exp(x) for x in (shift.low, shift.high)]
        return cls(math.exp(shift.estimate), *bounds)

    @property
    def differs(self) -> bool:
        """Whether 1 is outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)

    def to_json(self) -> dict[str, Any]:
        return {"ratio": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Effect:
    """The ratio of two sides, and what their repeats could have shown."""

    ratio: Ratio
    detectable: float | None
    """The smallest ratio above 1 that repeats as noisy as these would show four times in five."""


def effect(a: _Logs, b: _Logs, design: Design, alpha: float) -> Effect:
    """Compare B's repeats with A's."""
    if design is Design.GROUPS:
        shift = group_shift(a, b, alpha)
    else:
        shift = pair_shift([y - x for x, y in zip(a, b, strict=True)], alpha)
    least = detectable(shift, alpha)
    return Effect(Ratio.of(shift), None if least is None else math.exp(least))


def null(a: _Logs, b: _Logs, design: Design, alpha: float) -> Effect | None:
    """Compare odd repeats with even ones of the same side; None with fewer than two.

    With pairs they are neighbours of one side, as many pairs as there are of A and B. With groups,
    each side is centred on its own median.
    """
    if design is Design.GROUPS:
        a, b = ([x - statistics.median(side) for x in side] for side in (a, b))
    mine, theirs = odd_and_even(a), odd_and_even(b)
    odd, even = mine[0] + theirs[0], mine[1] + theirs[1]
    return effect(odd, even, design, alpha) if odd else None


def odd_and_even(values: _Logs) -> tuple[list[float], list[float]]:
    """Return odd and even repeats, in the order 1 2, 4 3, 5 6, 8 7: a drift cancels out."""
    pairs = [values[n : n + 2] for n in range(0, len(values) - 1, 2)]
    turned = [pair[::-1] if n % 2 else pair for n, pair in enumerate(pairs)]
    return [pair[0] for pair in turned], [pair[1] for pair in turned]


def least_repeats(design: Design, alpha: float) -> int:
    """Return how many repeats the procedure needs before it can find a difference."""
    return least_pairs(alpha) if design is Design.PAIRS else least_groups(alpha)
