from __future__ import annotations

import math

import msgspec

LEAST_SHARE = 0.005
"""A queue that grows by less than this share of the due operations is steady. At a rate 1.5 % too
high for the target a queue grows by three times as much."""

_DEVIATIONS = 3


class Queue(msgspec.Struct, frozen=True):
    """Operations that wait for a lane, and operations under way."""

    backlog: int = 0
    in_flight: int = 0

    @property
    def length(self) -> int:
        return self.backlog + self.in_flight


NO_QUEUE = Queue()


def allowed_growth(length: float, due: float) -> float:
    """Return the largest growth of a queue that chance explains.

    The length is Poisson distributed; the difference of two lengths has twice the variance.
    """
    return max(LEAST_SHARE * due, _DEVIATIONS * math.sqrt(2 * (length + 1)))
