"""The messages of a master and its workers, beside Locust's own: plain data with named fields.

    master                                   worker
      slots, in the prepared test   ------->
                                    <-------  Opened   its identity; its lanes are open
      Ping                          ------->
                                    <-------  Pong     its clock
      Ask    number, phase          ------->           twice a second, and at each boundary
                                    <-------  Report   the same number, all counts since the last
      Ask    last                   ------->           its lanes end
                                    <-------  Report   last
                                    <-------  Failed   the error that ended it

A worker that is ended on its own machine (Ctrl-C) sends its last report unasked. Messages of a
worker arrive complete and in order, or not at all. A message with missing or additional fields is
refused: it comes from another build (`build`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec

from sitebench._engine import Histogram
from sitebench.counts import metrics
from sitebench.counts.source import Drain, Drained, StepRecord, StepTotals
from sitebench.errors import BadMessage

SHARED = "sitebench_shared"
"""Name of the parsed option in which a master sends its workers a `Shared`."""


class Message(msgspec.Struct, forbid_unknown_fields=True):
    TYPE: ClassVar[str] = ""

    def send(self, runner: Any, worker: str | None = None) -> None:
        plain = msgspec.to_builtins(self, builtin_types=(bytes,))
        addressee = () if worker is None else (worker,)
        runner.send_message(self.TYPE, plain, *addressee)


_M = TypeVar("_M", bound=Message)


def read(kind: type[_M], data: Any) -> _M:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _unreadable(kind, str(error)) from error


def _unreadable(kind: type[Message], reason: str) -> BadMessage:
    return BadMessage(
        f"a message {kind.TYPE or kind.__name__} has not the form of this sitebench: {reason}",
        "run the same sitebench on the master's machine and on the workers'",
    )


class Shared(Message):
    """A test that begins, and its division among workers."""

    build: dict[str, Any]
    slots: dict[str, int]
    loopback: str
    """The network namespace of the master, in which its loopback addresses are valid."""
    test: dict[str, Any]


class Opened(Message):
    """A worker's identity; its build comes first, as the master refuses other builds."""

    TYPE: ClassVar[str] = "sitebench-opened"
    version: str
    schema: int
    digest: str
    host: str
    address: str
    pid: int
    machine: str
    client: str
    cpu: list[int]
    """CPU nanoseconds of each thread of the worker when its lanes began."""


class Ping(Message):
    TYPE: ClassVar[str] = "sitebench-ping"
    sent: int


class Pong(Message):
    TYPE: ClassVar[str] = "sitebench-pong"
    sent: int
    received: int
    answered: int
    epoch: int


class Ask(Message):
    """A request for a drain; `begins` is the phase that begins with the drain."""

    TYPE: ClassVar[str] = "sitebench-drain"
    number: int
    begins: str | None
    shown: bool
    last: bool
    sent: int


class Step(Message):
    program: str
    step: str
    count: int
    failures: dict[str, int]
    examples: dict[str, str]
    overlaps: bool
    counters: dict[str, int]
    clocks: dict[str, bytes | None]
    same: dict[str, str]
    """Clocks that share the histogram of another clock, for example on a closed schedule."""


class Counts(Message):
    t0_ns: int
    t1_ns: int
    lanes: int
    lane_ns: int
    waiting_ns: int
    underway_ns: int
    backlog: int
    in_flight: int
    owed: int
    without_row: int
    row_wait_ns: int
    lost_rows: int
    cpu_ns: list[int]
    lane_counts: list[int]
    log: list[str]
    steps: list[Step]
    late: list[Step]
    older: list[Step]
    spans: list[tuple[int, Step]]


class Report(Message):
    """A drain, and the number of its request, if any."""

    TYPE: ClassVar[str] = "sitebench-report"
    number: int | None
    sent: int | None
    received: int
    answered: int
    epoch: int
    last: bool
    did: int
    use: dict[str, Any] | None
    drained: Counts


class Failed(Message):
    TYPE: ClassVar[str] = "sitebench-failed"
    error: dict[str, str]


ALL: tuple[type[Message], ...] = (Shared, Opened, Ping, Pong, Ask, Step, Counts, Report, Failed)

_NUMBERS = tuple(field.name for field in msgspec.structs.fields(Counts) if field.type is int)


def pack(drained: Drained, cpu_ns: Sequence[int]) -> Counts:
    """Return a drain as a message, with the CPU time of the load generator."""
    return Counts(
        **{name: getattr(drained, name) for name in _NUMBERS},
        cpu_ns=list(cpu_ns),
        lane_counts=list(drained.lane_counts),
        log=list(drained.log),
        steps=[*map(_pack_step, drained.steps)],
        late=[*map(_pack_step, drained.late)],
        older=[*map(_pack_step, drained.older)],
        spans=[(span, _pack_step(step)) for span, step in drained.spans],
    )


def _pack_step(step: StepRecord) -> Step:
    same = {
        str(clock): str(clock.closed)
        for clock in metrics.CLOCKS
        if clock.closed is not None and step.clocks[clock] is step.clocks[clock.closed]
    }
    own_clocks = ((clock, step.clocks[clock]) for clock in metrics.CLOCKS if clock not in same)
    return Step(
        step.program,
        step.step,
        step.count,
        dict(step.failures),
        dict(step.examples),
        step.overlaps,
        {str(counter): step.counters[counter] for counter in metrics.COUNTERS},
        {str(clock): times.to_bytes() if times.count else None for clock, times in own_clocks},
        same,
    )


def unpack(counts: Counts) -> Drain:
    """Undo `pack`; raises BadMessage."""
    try:
        return Drain(
            **{name: getattr(counts, name) for name in _NUMBERS},
            cpu_ns=tuple(counts.cpu_ns),
            lane_counts=counts.lane_counts,
            log=counts.log,
            steps=tuple(map(_unpack_step, counts.steps)),
            late=tuple(map(_unpack_step, counts.late)),
            older=tuple(map(_unpack_step, counts.older)),
            spans=tuple((span, _unpack_step(step)) for span, step in counts.spans),
        )
    except ValueError as error:
        raise _unreadable(Step, str(error)) from error


def _unpack_step(step: Step) -> StepTotals:
    _same_names("clocks", {**step.clocks, **step.same}, metrics.CLOCKS)
    _same_names("counters", step.counters, metrics.COUNTERS)
    histograms = {
        clock: Histogram() if encoded is None else Histogram.from_bytes(encoded)
        for clock, encoded in step.clocks.items()
    }
    if clock_names := step.same.values() - histograms.keys():
        raise ValueError(f"its clocks are those of {', '.join(sorted(clock_names))}")
    histograms |= {clock: histograms[same] for clock, same in step.same.items()}
    return StepTotals(
        step.program,
        step.step,
        step.count,
        Counter(step.failures),
        defaultdict(Histogram, histograms),
        defaultdict(int, step.counters),
        step.overlaps,
        step.examples,
    )


def _same_names(what: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    if values.keys() != set(known):
        differences = sorted(values.keys() ^ set(known))
        raise ValueError(f"its {what} differ in {', '.join(differences)}")
