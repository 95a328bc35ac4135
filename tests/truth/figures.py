"""A test's report as plain values: `tests.truth.engine_face` fills them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SEQUENCE = "sequence"
"""The row of a whole operation of several steps."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Times:
    """A summary of durations in seconds; unanswered operations are ranked by their waiting time."""

    n: int = 0
    mean: float = 0.0
    max: float = 0.0
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    """None if the test printed none, for lack of samples beyond it."""


@dataclass(frozen=True)
class Row:
    """A step, or the whole of an operation."""

    count: int = 0
    """Ended operations, right or wrong."""
    failures: int = 0
    unanswered: int = 0
    """Failures without an answer: timeouts, and connections that were reset."""
    thinking: int = 0
    """Operations within a think time at the end of the test, which are not in `count`."""
    latency: Times = Times()
    service: Times = Times()
    lag: Times = Times()
    wrong: Times = Times()
    abandoned: Times = Times()
    failed_s: float = 0.0
    """Sum of the lanes' time for failed operations."""
    paused_s: float = 0.0
    """Sum of the think times inside operations."""
    slow: int | None = None
    """Operations above `SLOW_S` of `tests.truth.log`; None if an output has no histogram."""


@dataclass(frozen=True)
class Span:
    """A row of stages."""

    begin_s: float
    seconds: float
    operations: int
    failures: int
    longest_s: float


@dataclass(frozen=True)
class Reported:
    """A test: its measured window, its spans, and all sent requests."""

    begin_ns: int
    end_ns: int
    """The window, on CLOCK_MONOTONIC."""
    rows: Mapping[Key, Row]
    """Operations due in the window, or begun in it if there are no arrivals."""
    counted: Sequence[Key]
    """The rows that stand for operations."""
    operations: int
    """The total of the window: operations that ended in it rightly, whenever they were due."""
    failures: int
    """The total of failures."""
    latency: Times
    """The latency of all operations together."""
    spans: Sequence[Span] = ()
    sent: int | None = None
    """Requests of the whole test."""
    whole: Mapping[Key, Row] | None = None
    """Counts of the whole test, ramp and end included; None if the output has none."""
    state: str = ""
    """The result of the test for steadiness: `too-short`, `settled` and so on."""
    objectives: Mapping[str, str] = field(default_factory=dict)
    """The outcome of its objectives: met, broken or unknown."""
