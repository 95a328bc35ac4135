"""Lanes in Python, whose records have the shape of the engine's snapshots.

They run in Locust's greenlets, fire Locust's request events, and measure by the same rules as the
engine.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import Any

import gevent  # type: ignore[import-untyped]
import msgspec

from sitebench._engine import PortableUsers, Step, Steps
from sitebench.counts import metrics
from sitebench.counts.source import SEQUENCE, Drain, StepTotals
from sitebench.errors import BadInput
from sitebench.measure.options import LoadOptions

A_DAY_S = 86_400.0
_POLL_S = 0.005


def timeout_after(seconds: float) -> gevent.Timeout:
    """Return a timeout for a whole operation; timeouts of client libraries are per read."""
    return gevent.Timeout(seconds, TimeoutError("timed out"))


class Ended(msgspec.Struct, frozen=True):
    kind: str | None
    answered: bool
    ns: int
    began_ns: int
    processing_ns: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    paused_ns: int = 0
    """The think times of an operation, which none of its times include."""
    shown: str | None = None
    """The failed request, and the answer to it, in words."""


class LaneClock:
    """The clock of one lane, which splits all its time into operations, processing and waits."""

    def __init__(self, lanes: PortableLanes) -> None:
        self.since_ns = self._began_ns = self._answered_ns = time.monotonic_ns()
        self.busy = False
        self.unfinished = False
        """Whether several requests are one operation, and some of them are not answered yet."""
        self.counted: tuple[str, str] | None = None
        """The row of the present operation, if it is counted as a whole."""
        self.operation_ns = 0
        self._thinks_until_ns = 0
        self._lanes = lanes
        lanes.clocks.add(self)

    def begin(self) -> None:
        """Begin a request; blocks forever once all lanes are to stop."""
        while self._lanes.stopping and not self.unfinished:
            time.sleep(A_DAY_S)
        self.busy = True
        self._began_ns = time.monotonic_ns()

    def note_answer(self) -> None:
        """Take the time of the answer; the check of the answer counts as processing."""
        self._answered_ns = time.monotonic_ns()

    def end(self, kind: str | None, *, answered: bool, traffic: tuple[int, int]) -> Ended:
        """End the operation, with its kind of failure, if any, and its bytes sent and received."""
        if self._answered_ns <= self._began_ns:
            self.note_answer()
        self.busy = False
        took, queued = self._answered_ns - self._began_ns, self._began_ns - self.since_ns
        self.since_ns = self._answered_ns
        return Ended(kind, answered, took, self._began_ns, queued, *traffic)

    def owes(self, over_ns: range, limit_ns: int) -> bool:
        """Return whether the lane has an unfinished operation that was due in `over_ns`.

        An operation does not count while it is in a think time that ends at `limit_ns` or later.
        """
        if self.busy and self._began_ns in over_ns:
            return True
        waits = self._thinks_until_ns < limit_ns
        return self.counted is not None and self.operation_ns in over_ns and waits

    def wait_for_row(self, seconds: float) -> None:
        """Sleep; an operation that has sent no request yet becomes due at the end of the sleep."""
        self._lanes.sleep(seconds)
        self._add_wait(time.monotonic_ns())
        if self._began_ns < self.operation_ns:
            self.operation_ns = self.since_ns

    def rest(self, seconds: float, *, thinks: bool = False) -> None:
        """Sleep, at most until all lanes are to stop; a late wake-up counts as processing."""
        due = self.since_ns + round(seconds * 1e9)
        self._thinks_until_ns = due if thinks else 0
        self._lanes.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        self._thinks_until_ns = 0
        self._add_wait(min(due, time.monotonic_ns()))

    def leave_out(self) -> tuple[tuple[str, str], int] | None:
        """Leave out an operation that is in a think time; return its row and its begin, if any."""
        if self.counted is None or not self._thinks_until_ns:
            return None
        row, self.counted = self.counted, None
        return row, self.operation_ns

    def stop(self) -> None:
        if self in self._lanes.clocks:
            self._add_wait(time.monotonic_ns())
            self._lanes.clocks.discard(self)

    def _add_wait(self, until_ns: int) -> None:
        waited = max(0, until_ns - self.since_ns)
        self._lanes.waiting_ns += waited
        self.since_ns += waited


class PortableLane(ABC):
    """One lane in Python, with a clock of its own; the engine gives the lane its steps."""

    def __init__(self, lanes: PortableLanes, steps: Steps) -> None:
        self.clock = LaneClock(lanes)
        self.steps = steps
        self._all = lanes
        self._began_ns = self._paused_ns = 0
        self._is_pass = False
        """Whether the present operation is a whole pass, whose time includes its think times."""
        self._counted: tuple[str, str] | None = None

    @abstractmethod
    def ask(self, step: Step) -> Ended:
        """Open a connection or send a request, and report the outcome to `steps`."""

    @abstractmethod
    def hang_up(self, connection: int) -> None:
        """Close a connection, if it is open."""

    @abstractmethod
    def hang_up_all(self) -> None: ...
    def close(self) -> None:
        self.hang_up_all()
        self.clock.stop()
        self._all.forget_ended(self)

    def run_pass(self) -> None:
        while self._do(self._next()):
            continue

    def _next(self) -> Step:
        """Return the next step; blocks forever once all lanes are to stop."""
        if self._all.stopping:
            self.steps.stop()
        while (step := self.steps.next()) is None:
            self.clock.unfinished = False
            if not self._all.stopping:
                # There is no row of data for this lane.
                self.hang_up_all()
                self.clock.stop()
                self._all.end_without_row(self)
            time.sleep(A_DAY_S)
        return step

    def _do(self, step: Step) -> bool:
        clock = self.clock
        if step.does in ("begin", "begin pass"):
            self._began_ns = clock.operation_ns = time.monotonic_ns()
            self._paused_ns, self._is_pass = 0, step.does == "begin pass"
            clock.unfinished, clock.counted, self._counted = True, step.row, step.row
        elif step.does in ("open", "ask"):
            assert step.row is not None
            self._all.record(*step.row, self.ask(step))
        elif step.does == "wait":
            before_ns = clock.since_ns
            clock.rest(step.seconds, thinks=clock.unfinished)
            pause_ns = clock.since_ns - before_ns
            if not self._is_pass:
                self._began_ns += pause_ns
            if not (self._is_pass and self._counted is not None):
                self._paused_ns += pause_ns
        elif step.does == "await row":
            before_ns = clock.since_ns
            clock.wait_for_row(step.seconds)
            self._all.row_wait_ns += clock.since_ns - before_ns
            self._began_ns += clock.since_ns - before_ns
        elif step.does == "close" and step.row is None:
            self.hang_up(step.connection)
        elif step.does == "close":
            assert step.row is not None
            self.clock.begin()
            self.hang_up(step.connection)
            self._all.record(*step.row, clock.end(None, answered=True, traffic=(0, 0)))
        else:
            assert step.row is not None
            self._end(step, step.row)
        return step.does != "end"

    def _end(self, step: Step, row: tuple[str, str]) -> None:
        """Record an operation, which ended with its last answer, unless it was left out.

        If only one step of the operation is counted, the record of the whole operation belongs to
        the window in which the operation ends, because windows wait only for counted steps.
        """
        clock = self.clock
        is_counted, was_counted = clock.counted == row, self._counted == row
        clock.unfinished, clock.counted = False, None
        if was_counted and not is_counted:
            return
        took = max(0, clock.since_ns - self._began_ns)
        began = clock.operation_ns if is_counted else clock.since_ns
        paused = self._paused_ns
        self._all.keep(*row, Ended(step.kind, step.answered, took, began, paused_ns=paused))


def refuse_what_only_native_does(client: str, options: LoadOptions, *, resume: bool) -> None:
    lacks = {
        "--rate": ("supports closed schedules only", options.rate is not None),
        "--fail-log": ("keeps no --fail-log", bool(options.fail_log)),
        "--tls-resume": ("does not resume TLS sessions", resume),
    }
    for name, (lack, is_given) in lacks.items():
        if is_given:
            message = f"--client {client} {lack}"
            raise BadInput(message, f"leave out {name}, or use the native client")


_Records = dict[tuple[str, str], StepTotals]


class PortableLanes:
    timeout_s: float = 0.0

    def __init__(self, environment: Any, users: PortableUsers) -> None:
        self.environment = environment
        self.users = users
        self.clocks: set[LaneClock] = set()
        self.waiting_ns = self.row_wait_ns = 0
        self._stopping = threading.Event()
        self._lanes = 0
        self._without_row = 0
        self._ended: set[PortableLane] = set()
        """Lanes that ended before they were stopped, as no row was left for them."""
        self._ended_ns = 0
        self._lane_ns = 0
        self._records: tuple[_Records, _Records, _Records] = ({}, {}, {})
        """Operations due in the present window, in the window before, and earlier."""
        self._over_ns = range(0)
        self._since_ns = self._counted_ns = time.monotonic_ns()
        self._lock = threading.Lock()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def sleep(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def start_lanes(self, program: str, n: int) -> None:
        self._count_lanes()
        self._lanes += n

    def stop_lanes(self, program: str, n: int) -> None:
        self._count_lanes()
        self._lanes -= n

    def end_without_row(self, lane: PortableLane) -> None:
        self._ended_ns = self._count_lanes()
        self._ended.add(lane)
        self._without_row += 1

    def forget_ended(self, lane: PortableLane) -> None:
        """Remove a lane from the ended lanes, because `stop_lanes` will subtract it."""
        self._count_lanes()
        self._ended.discard(lane)

    @property
    def _running(self) -> int:
        return self._lanes - len(self._ended)

    def _count_lanes(self) -> int:
        now = time.monotonic_ns()
        self._lane_ns += self._running * (now - self._counted_ns)
        self._counted_ns = now
        return now

    def record(self, program: str, step: str, ended: Ended) -> None:
        self.keep(program, step, ended)
        self.environment.events.request.fire(
            request_type=program,
            name=step,
            response_time=ended.ns / 1e6,
            response_length=ended.bytes_in,
            exception=ended.kind,
            context={},
        )

    def keep(self, program: str, step: str, ended: Ended) -> None:
        """Count one operation, without an event for Locust."""
        with self._lock:
            record = self._record(program, step, ended.began_ns)
            record.count += 1
            record.counters[metrics.BYTES_OUT] += ended.bytes_out
            record.counters[metrics.BYTES_IN] += ended.bytes_in
            record.counters[metrics.PROCESSING] += ended.processing_ns
            record.counters[metrics.PAUSED] += ended.paused_ns
            if ended.kind is None:
                record.clocks[metrics.SERVICE].record(ended.ns)
            else:
                clock = metrics.WRONG if ended.answered else metrics.CENSORED
                record.clocks[clock].record(ended.ns)
                record.counters[metrics.FAILED] += ended.ns
                record.failures[ended.kind] += 1
                if ended.shown is not None:
                    record.examples.setdefault(ended.kind, ended.shown)

    def _record(self, program: str, step: str, began_ns: int) -> StepTotals:
        present, late, older = self._records
        if began_ns >= self._over_ns.stop:
            records = present
        else:
            records = late if began_ns in self._over_ns else older
        if (record := records.get((program, step))) is None:
            record = StepTotals.closed(program, step, overlaps=step == SEQUENCE)
            records[program, step] = record
        return record

    def cut(self) -> Drain:
        return self.drain(cut=True)

    def drain(self, *, cut: bool = False) -> Drain:
        with self._lock:
            now = self._count_lanes()
            if self._ended and not self._running:
                # The window ends when the last lane ends.
                now = max(self._ended_ns, self._since_ns)
            start, self._since_ns = self._since_ns, now
            steps, late, older = (tuple(records.values()) for records in self._records)
            self._records = ({}, {}, {})
            if cut:
                self._over_ns = range(self._over_ns.stop, now)
            lane_ns, self._lane_ns = self._lane_ns, 0
            waiting_ns, self.waiting_ns = self.waiting_ns, 0
            row_wait_ns, self.row_wait_ns = self.row_wait_ns, 0
            underway_ns = sum(now - clock.since_ns for clock in self.clocks)
            in_flight = sum(clock.busy for clock in self.clocks)
            limit_ns = self._over_ns.stop + round(self.timeout_s * 1e9)
            owed = sum(clock.owes(self._over_ns, limit_ns) for clock in self.clocks)
        return Drain(
            start,
            now,
            steps,
            self._running,
            (),
            lane_ns,
            waiting_ns,
            underway_ns,
            in_flight=in_flight,
            owed=owed,
            late=late,
            older=older,
            without_row=self._without_row,
            row_wait_ns=row_wait_ns,
            lost_rows=self.users.lost_rows(),
        )

    def stop(self, timeout_s: float = 5.0) -> Drain:
        """Let every lane end its operation; the lanes themselves end with their greenlets.

        Operations are left out if they are in a think time.
        """
        for clock in tuple(self.clocks):
            if (thinking := clock.leave_out()) is not None:
                row, began_ns = thinking
                with self._lock:
                    self._record(*row, began_ns).counters[metrics.THINKING] += 1
        self._stopping.set()
        give_up = time.monotonic() + timeout_s
        while time.monotonic() < give_up:
            if not any(clock.busy or clock.unfinished for clock in tuple(self.clocks)):
                break
            time.sleep(_POLL_S)
        return self.drain()
