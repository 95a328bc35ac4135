"""The queue of operations that are due and not answered, and its growth by chance."""

from __future__ import annotations

import math

import msgspec

LEAST_SHARE = 0.005
"""The least growth, by the operations due: a third of that at a rate 1.5 % above the target's."""

_DEVIATIONS = 3


class Queue(msgspec.Struct, frozen=True):
    """Operations that wait for a lane, and those under way."""

    backlog: int = 0
    in_flight: int = 0

    @property
    def length(self) -> int:
        return self.backlog + self.in_flight


NO_QUEUE = Queue()


def allowed_growth(length: float, due: float) -> float:
    """Return the growth of a queue of this length that chance explains.

    The number under way is Poisson distributed; the difference of two has twice its variance.
    """
    return max(LEAST_SHARE * due, _DEVIATIONS * math.sqrt(2 * (length + 1)))
