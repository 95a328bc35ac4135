"""What is due and not answered, and how much longer that may become by chance."""

from __future__ import annotations

import math

import msgspec

LEAST_SHARE = 0.005
"""Growth by less than this share of what was due is none. It is a third of what is always to be
found: a rate that is 1.5 % above what the target can do."""

_DEVIATIONS = 3


class Queue(msgspec.Struct, frozen=True):
    """What is due and not answered: not begun for want of a lane, and under way."""

    backlog: int = 0
    in_flight: int = 0

    @property
    def length(self) -> int:
        return self.backlog + self.in_flight


NO_QUEUE = Queue()


def allowed_growth(length: float, due: float) -> float:
    """Return by how much a queue of this length may grow while so many operations are due.

    Operations under way are a Poisson number where they do not wait for each other; the difference
    of two has twice its variance.
    """
    return max(LEAST_SHARE * due, _DEVIATIONS * math.sqrt(2 * (length + 1)))
