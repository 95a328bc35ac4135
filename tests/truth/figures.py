"""What a test reported, as plain values: `tests.truth.engine_face` fills them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SEQUENCE = "sequence"
"""The row of a whole operation of several steps."""

Key = tuple[str, str]
"""A row: operation and step."""


@dataclass(frozen=True)
class Times:
    """A summary of durations in seconds; what was never answered ranks as long as it was waited."""

    n: int = 0
    mean: float = 0.0
    max: float = 0.0
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    """None where the test printed none: too few samples lie beyond it."""


@dataclass(frozen=True)
class Row:
    """A step, or the whole of an operation."""

    count: int = 0
    """Those that ended, rightly or not."""
    failures: int = 0
    unanswered: int = 0
    """Of the failures those without an answer: timeouts, and connections that were reset."""
    thinking: int = 0
    """Operations in a think time of their own at the end of the test, which `count` lacks."""
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
    """Those of more than `SLOW_S` of `tests.truth.log`; None where an output has no histogram."""


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
    """A test: its measured window, its spans, and all that it sent."""

    begin_ns: int
    end_ns: int
    """The window, on CLOCK_MONOTONIC."""
    rows: Mapping[Key, Row]
    """What was due in the window, or began in it where nothing arrives."""
    counted: Sequence[Key]
    """The rows that stand for operations."""
    operations: int
    """The total of the window: operations that ended in it rightly, whenever they were due."""
    failures: int
    """The total of failures."""
    latency: Times
    """That of all operations together."""
    spans: Sequence[Span] = ()
    sent: int | None = None
    """Requests of the whole test."""
    whole: Mapping[Key, Row] | None = None
    """Counts of the whole test, ramp and end included; None where the output has none."""
    state: str = ""
    """Of the test for steadiness: `too-short`, `settled` and so on."""
    objectives: Mapping[str, str] = field(default_factory=dict)
    """Objectives that it was held against: met, broken or unknown."""
