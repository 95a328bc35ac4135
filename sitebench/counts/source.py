"""What the bridge needs from whatever drives the lanes.

The native engine has exactly this face; the portable Python lanes imitate it. Protocols, so
that the modules which only move numbers need neither the engine nor Locust to be tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sitebench._engine import Histogram

SEQUENCE = "sequence"
"""Step name under which a whole pass of a program is recorded."""


class StepRecord(Protocol):
    """What one step of one program did between two drains."""

    @property
    def program(self) -> str: ...  # noqa: D102
    @property
    def step(self) -> str: ...  # noqa: D102
    @property
    def count(self) -> int: ...  # noqa: D102
    @property
    def failures(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def bytes_out(self) -> int: ...  # noqa: D102
    @property
    def bytes_in(self) -> int: ...  # noqa: D102
    @property
    def service(self) -> Histogram: ...  # noqa: D102
    @property
    def latency(self) -> Histogram: ...  # noqa: D102
    @property
    def lag(self) -> Histogram: ...  # noqa: D102
    @property
    def censored(self) -> Histogram: ...  # noqa: D102
    @property
    def processing_ns(self) -> int: ...  # noqa: D102


class Drained(Protocol):
    """Everything recorded between two drains."""

    @property
    def t0_ns(self) -> int: ...  # noqa: D102
    @property
    def t1_ns(self) -> int: ...  # noqa: D102
    @property
    def cpu_ns(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def lanes(self) -> int: ...  # noqa: D102
    @property
    def lane_ns(self) -> int: ...  # noqa: D102
    @property
    def waiting_ns(self) -> int: ...  # noqa: D102
    @property
    def underway_ns(self) -> int: ...  # noqa: D102
    @property
    def steps(self) -> Sequence[StepRecord]: ...  # noqa: D102


class Source(Protocol):
    """Starts and stops lanes, and hands out what they recorded."""

    def start_lanes(self, program: str, n: int) -> None: ...  # noqa: D102
    def stop_lanes(self, program: str, n: int) -> None: ...  # noqa: D102
    def drain(self) -> Drained: ...  # noqa: D102
    def stop(self, timeout_s: float = ...) -> Drained: ...  # noqa: D102
