"""What a source of lanes hands out, made by hand: plain values, for the pure parts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts import source


def histogram(*values_ns: int) -> Histogram:
    """Return a histogram of these values."""
    made = Histogram()
    for value in values_ns:
        made.record(value)
    return made


@dataclass
class Step(source.StepTotals):
    """What one step did in a closed schedule."""

    failures: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.failures = Counter(self.failures)
        self.latency = self.service
        self.in_vain = self.censored
        self.overlaps = self.overlaps or self.step == source.SEQUENCE


@dataclass(frozen=True)
class Drain(source.Drain):
    """What one lane, or more, did between two instants."""

    steps: Sequence[source.StepTotals] = ()
    lanes: int = 1
    cpu_ns: tuple[int, ...] = (0,)
    lane_ns: int = 0
    waiting_ns: int = 0
    underway_ns: int = 0
