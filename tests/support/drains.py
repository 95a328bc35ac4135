"""What a source of lanes hands out, made by hand: plain values, for the pure parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitebench._engine import Histogram


def histogram(*values_ns: int) -> Histogram:
    """Return a histogram of these values."""
    made = Histogram()
    for value in values_ns:
        made.record(value)
    return made


@dataclass(frozen=True)
class Step:
    """What one step did."""

    program: str
    step: str
    count: int
    failures: Mapping[str, int] = field(default_factory=dict)
    bytes_out: int = 0
    bytes_in: int = 0
    service: Histogram = field(default_factory=Histogram)
    lag: Histogram = field(default_factory=Histogram)
    censored: Histogram = field(default_factory=Histogram)
    processing_ns: int = 0

    @property
    def latency(self) -> Histogram:
        """As in a closed schedule."""
        return self.service


@dataclass(frozen=True)
class Drain:
    """What all steps did between two instants."""

    t0_ns: int
    t1_ns: int
    steps: tuple[Step, ...] = ()
    lanes: int = 1
    cpu_ns: tuple[int, ...] = (0,)
    lane_ns: int = 0
    waiting_ns: int = 0
    underway_ns: int = 0
