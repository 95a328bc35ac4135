"""The ratio of two sides with its interval, and the A/A null: the ratio of repeats of one side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from sitebench.compare.statistics import detectable, pair_shift

_Logs = Sequence[float]
"""Logarithms of measured values; their differences are logarithms of ratios."""


class Effect(msgspec.Struct, frozen=True):
    """The ratio B/A, its interval, and the detectable ratio; None with too few values."""

    ratio: float
    low: float | None
    high: float | None
    detectable: float | None
    """The least ratio above 1 that a comparison with this noise would find four times in five."""

    @property
    def differs(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)


def effect(a: _Logs, b: _Logs, alpha: float) -> Effect:
    shift = pair_shift([y - x for x, y in zip(a, b, strict=True)], alpha)
    logs = (shift.low, shift.high, detectable(shift, alpha))
    return Effect(math.exp(shift.estimate), *(None if x is None else math.exp(x) for x in logs))


def null(a: _Logs, b: _Logs, alpha: float) -> Effect | None:
    """Compare odd with even repeats of the same side; None if a side has fewer than two repeats.

    A pair is two neighbouring repeats of a side. The null has as many pairs as the comparison.
    """
    halves_a, halves_b = odd_and_even(a), odd_and_even(b)
    odd, even = halves_a[0] + halves_b[0], halves_a[1] + halves_b[1]
    return effect(odd, even, alpha) if odd else None


def odd_and_even(values: _Logs) -> tuple[list[float], list[float]]:
    """Return odd and even repeats in the order 1 2, 4 3, 5 6, 8 7, in which a drift cancels out."""
    pairs = [values[n : n + 2] for n in range(0, len(values) - 1, 2)]
    turned = [pair[::-1] if n % 2 else pair for n, pair in enumerate(pairs)]
    return [pair[0] for pair in turned], [pair[1] for pair in turned]
