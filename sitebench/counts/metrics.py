"""Metrics of every step: clocks and counters.

A clock is a histogram of a kind of time, a counter is a sum. All code between a recorder and a
report iterates over these tables, which a test compares with the native recorder's
(`native/tester/load/src/record/metric.rs`).

      due        sent                  answered    read
       |--- lag ---|--------- service ------|----------|
       |------------------- latency --------|----------|
                                            |- unread -|

The time for which an answer lies unread is the load generator's own. Service time and latency
include this time.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import ClassVar, Self

RESULT, STEP = "result", "step"
"""Values of `Clock.always`: places that show the clock even if nothing was recorded."""


class _Metric(str):
    """A metric is its name, a `str`, so that it can be a key of dictionaries."""

    def __new__(cls, name: str, *_: object, **__: object) -> Self:
        return super().__new__(cls, name)


@dataclass(eq=False, repr=False)
class Clock(_Metric):
    """A histogram of a kind of time, in nanoseconds."""

    name: InitVar[str]
    heading: str
    meaning: str
    closed: Clock | None = None
    """The clock with the same times on a closed schedule, where operations are due when sent."""
    bound: Clock | None = None
    """The clock of operations without an answer, whose times are lower bounds of this clock's."""
    always: tuple[str, ...] = ()
    unit: ClassVar[str] = "ns"

    @property
    def key(self) -> str:
        """The clock's name in JSON and CSV, where durations are in microseconds."""
        return f"{self}_us"


@dataclass(eq=False, repr=False)
class Counter(_Metric):
    """A sum over operations."""

    name: InitVar[str]
    unit: str
    meaning: str
    whole: bool = False
    """Whether whole operations are counted, and not their steps."""

    @property
    def key(self) -> str:
        """The counter's name in results, where a time is the mean per operation."""
        return f"{self}_us" if self.unit == "ns" else str(self)

    @property
    def column(self) -> str:
        return f"{self}_ns" if self.unit == "ns" else str(self)

    def figure(self, total: int, operations: int) -> int | float | None:
        """Return the total; for a time, the microseconds per operation."""
        if self.unit != "ns":
            return total
        return total / operations / 1e3 if operations else None


CENSORED = Clock(
    "censored",
    "given up",
    "due to given up, of operations that were never answered: a lower bound of their latency",
    always=(RESULT, STEP),
)
ABANDONED = Clock(
    "abandoned",
    "given up, from sent",
    "sent to given up, of operations that were never answered: a lower bound of their service time",
    closed=CENSORED,
)
SERVICE = Clock(
    "service",
    "service time",
    "sent to answered, of right answers",
    bound=ABANDONED,
    always=(RESULT, STEP),
)
LATENCY = Clock(
    "latency",
    "latency",
    "due to answered, of right answers",
    closed=SERVICE,
    bound=CENSORED,
    always=(RESULT,),
)
LAG = Clock("lag", "schedule lag", "due to sent, of all that were answered", always=(RESULT,))
UNREAD = Clock(
    "unread",
    "answers unread",
    "how long a right answer lay unread at most: the load generator's own part of the service time",
    always=(RESULT,),
)
WRONG = Clock("wrong", "wrong answers", "due to answered, of wrong answers")

CLOCKS = (SERVICE, LATENCY, LAG, UNREAD, WRONG, CENSORED, ABANDONED)

BYTES_OUT = Counter("bytes_out", "bytes", "bytes sent")
BYTES_IN = Counter("bytes_in", "bytes", "bytes received")
PROCESSING = Counter("processing", "ns", "the load generator's own time before requests")
FAILED = Counter("failed", "ns", "sent to answered wrongly or given up: lanes' time in vain")
PAUSED = Counter(
    "paused", "ns", "think times inside operations, in none of their times", whole=True
)
THINKING = Counter(
    "thinking",
    "operations",
    "operations left out: in a think time of their own when the test ended",
    whole=True,
)

COUNTERS = (BYTES_OUT, BYTES_IN, PROCESSING, FAILED, PAUSED, THINKING)

ENDED = (SERVICE, WRONG, CENSORED)
"""Every operation that ended is in exactly one of these clocks."""
