"""Scaling of a rate with processors, workers or threads."""

from __future__ import annotations

import msgspec


class Scaling(msgspec.Struct, frozen=True):
    """Scaling of a rate."""

    ratio: float
    per_processor: float
    """Efficiency: the ratio divided by that of processors; at most 1."""

    @property
    def gain_percent(self) -> float:
        return 100 * (self.ratio - 1)


def scaling(few: float, many: float, *, processors: tuple[int, int] = (1, 2)) -> Scaling:
    """Return how a rate grew from so many processors to so many."""
    ratio = many / few
    return Scaling(ratio, ratio * processors[0] / processors[1])
