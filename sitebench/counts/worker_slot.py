"""Which of how many load-making processes this is."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A process's index among those that make load for one test, and their number."""

    index: int = 0
    count: int = 1

    def rate(self, whole: float | None) -> float | None:
        """Return this process's part of a rate; all parts add up to it, to the last digit.

        A float is a whole number of units of its last digit: these are divided, as evenly as they
        can be. Each part is such a number too, so that adding them up rounds nothing.
        """
        if whole is None:
            return None
        mantissa, exponent = math.frexp(whole)
        units, rest = divmod(int(math.ldexp(mantissa, 53)), self.count)
        return math.ldexp(units + (self.index < rest), exponent - 53)
