"""The part of a test's load that one of its processes makes."""

from __future__ import annotations

import math

import msgspec


class WorkerSlot(msgspec.Struct, frozen=True):
    """A process's index among those of the load of one test, and their number."""

    index: int = 0
    count: int = 1

    def rate(self, total: float | None) -> float | None:
        """Return this process's part of a rate; all parts add up to it exactly.

        A float is an integer times a power of two: the integer is divided, so that adding the parts
        rounds nothing.
        """
        if total is None:
            return None
        mantissa, exponent = math.frexp(total)
        units, rest = divmod(int(math.ldexp(mantissa, 53)), self.count)
        return math.ldexp(units + (self.index < rest), exponent - 53)
