"""What more of something brought: processors, workers, threads."""

from __future__ import annotations

import msgspec


class Scaling(msgspec.Struct, frozen=True):
    """What more processors brought."""

    ratio: float
    per_processor: float
    """The ratio by that of the processors; 1 is as much as there can be."""

    @property
    def gain_percent(self) -> float:
        return 100 * (self.ratio - 1)


def scaling(few: float, many: float, *, processors: tuple[int, int] = (1, 2)) -> Scaling:
    """Return how a rate grew from so many processors to so many."""
    ratio = many / few
    return Scaling(ratio, ratio * processors[0] / processors[1])
