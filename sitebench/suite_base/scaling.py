"""Scaling of a rate with processors, workers or threads."""

from __future__ import annotations

import msgspec


class Scaling(msgspec.Struct, frozen=True):
    ratio: float
    per_processor: float
    """Efficiency: the ratio of rates divided by the ratio of processors."""

    @property
    def gain_percent(self) -> float:
        return 100 * (self.ratio - 1)


def scaling(few: float, many: float, *, processors: tuple[int, int] = (1, 2)) -> Scaling:
    """Return the growth of a rate between two numbers of processors."""
    ratio = many / few
    return Scaling(ratio, ratio * processors[0] / processors[1])
