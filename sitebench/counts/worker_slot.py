from __future__ import annotations

import math

import msgspec


class WorkerSlot(msgspec.Struct, frozen=True):
    """The index of a process among the processes that make a test's load, and their number."""

    index: int = 0
    count: int = 1

    def rate(self, total: float | None) -> float | None:
        """Return this process's part of a rate; the parts add up to the rate without rounding.

        A float is an integer times a power of two, and the integer is divided.
        """
        if total is None:
            return None
        mantissa, exponent = math.frexp(total)
        units, rest = divmod(int(math.ldexp(mantissa, 53)), self.count)
        return math.ldexp(units + (self.index < rest), exponent - 53)
