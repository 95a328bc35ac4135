"""`--until p99:5%`: a window that lasts until a percentile is precise enough.

A precision of 5 % means that half of the percentile's two-sided 95 % interval
(`counts.percentile_interval`) is at most 5 % of the percentile.
"""

from __future__ import annotations

import re

import msgspec

from sitebench import units
from sitebench.counts.durations import PERCENTILES, heading
from sitebench.counts.percentile_interval import Intervals
from sitebench.errors import UnknownValue

_LIMIT_S = 300.0
_PATTERN = re.compile(r"(p[0-9.]+):([0-9.]+%)(?:,(.+))?")


class Until(msgspec.Struct, frozen=True):
    percentile: str
    precision: float
    """Half the width of the interval, as a share of the percentile."""
    limit_s: float
    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> Until:
        match = _PATTERN.fullmatch(text.replace(" ", ""))
        name = match and match[1].replace(".", "_")
        if match is None or name not in PERCENTILES:
            names = ", ".join(map(heading, PERCENTILES))
            raise UnknownValue(
                f"{text!r} is not a percentile ({names}) and a precision",
                "write p99:5%, or with a limit p99:5%,10m",
            )
        precision = units.parse_percent(match[2])
        if not 0.005 <= precision <= 0.5:
            raise UnknownValue(f"precision {match[2]} is not between 0.5% and 50%", "write 5%")
        limit_s = _LIMIT_S if match[3] is None else units.parse_duration(match[3])
        return cls(name, precision, limit_s, text)

    def is_precise(self, intervals: Intervals) -> bool:
        low, high = intervals.bounds.get(self.percentile, (0.0, None))
        return high is not None and high - low <= self.precision * (high + low)
