"""What is measured of every step: each clock and each counter, declared once.

A clock is a histogram of one kind of time, a counter is a sum. Native recorders have the same table
(`native/tester/load/src/record/metric.rs`), and a test holds one to the other. Everything between a
recorder and a report iterates over these tables; a metric is named only for a rule about that one.

      due        sent                  answered    read
       |--- lag ---|--------- service ------|----------|
       |------------------- latency --------|----------|
                                            |- unread -|

An answer may lie unread: that time is the tester's own, and in service time and latency.
"""

from __future__ import annotations

RESULT, STEP = "result", "step"
"""Where a clock stands even if nothing was recorded: in a point's result, in each of its steps."""


class Clock(str):
    """A histogram of one kind of time, in nanoseconds. It is its name, so that it is a key, too."""

    unit = "ns"
    heading: str
    """As a table's column or row calls it."""
    meaning: str
    closed: Clock | None
    """The clock that it is on a closed schedule, where nothing is due before it is sent."""
    bound: Clock | None
    """The clock of operations without an answer that rank in it, each as a lower bound."""
    always: tuple[str, ...]

    def __new__(
        cls,
        name: str,
        heading: str,
        meaning: str,
        *,
        closed: Clock | None = None,
        bound: Clock | None = None,
        always: tuple[str, ...] = (),
    ) -> Clock:
        clock = super().__new__(cls, name)
        clock.heading, clock.meaning, clock.closed, clock.bound = heading, meaning, closed, bound
        clock.always = always
        return clock

    @property
    def key(self) -> str:
        """Its name where its durations are summarised in microseconds: in JSON and CSV."""
        return f"{self}_us"


class Counter(str):
    """A sum over operations. It is its name, so that it is a key, too."""

    unit: str
    meaning: str
    whole: bool
    """Whether it is of operations, and not of each of their steps."""

    def __new__(cls, name: str, unit: str, meaning: str, *, whole: bool = False) -> Counter:
        counter = super().__new__(cls, name)
        counter.unit, counter.meaning, counter.whole = unit, meaning, whole
        return counter

    @property
    def key(self) -> str:
        """Its name among the figures of a result: a time is shown as that of one operation."""
        return f"{self}_us" if self.unit == "ns" else str(self)

    @property
    def column(self) -> str:
        """Its name where the sum itself is shown."""
        return f"{self}_ns" if self.unit == "ns" else str(self)

    def figure(self, total: int, operations: int) -> int | float | None:
        """Return the figure of a result: a sum of bytes, or the microseconds of an operation."""
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
"""Every clock, in the order in which it is shown."""

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
"""Every counter."""

ENDED = (SERVICE, WRONG, CENSORED)
"""The clocks that share all operations among them: each that ended is in exactly one."""
