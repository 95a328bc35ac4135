"""Runs cells of the matrix, a dozen concurrently, and compares their reports with the log."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from tests.truth import checks, engine_face, log
from tests.truth.cells import ANSWER_S, TIMEOUT_S, Cell
from tests.truth.figures import Reported, Row

ROOT = Path(__file__).parents[2]
CROWDED = 0.5
"""Maximum share of the machine that other programs may use while a cell runs."""
_FURTHER_APART = 2.5
"""On a crowded machine a thread may wait this long for a core at the edge of a window."""


class Server:
    """The server of `tests.truth.server`, in a separate process."""

    def __init__(self, *certificate: str) -> None:
        argv = [sys.executable, "-m", "tests.truth.server", *certificate]
        self._process = subprocess.Popen(argv, stdin=-1, stdout=-1, text=True, cwd=ROOT)
        self._lock = threading.Lock()

    def do(self, **command: Any) -> dict[str, Any]:
        """Send the server a command, and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def open(self, protocol: str, *, unanswered_every: int = 0, tls: bool = False) -> int:
        answer = self.do(
            open=protocol, answer_s=ANSWER_S, unanswered_every=unanswered_every, tls=tls
        )
        return int(answer["port"])

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def serving(*certificate: str) -> Iterator[Server]:
    server = Server(*certificate)
    try:
        yield server
    finally:
        server.close()


@dataclass(frozen=True)
class Measured:
    """A cell with its report, and the expected figures of the log."""

    cell: Cell
    reported: Reported
    truth: log.Truth
    others: float
    """Share of the machine that other programs used."""
    stall_s: tuple[float, float] | None
    """By the log's clock."""

    @property
    def window_s(self) -> tuple[float, float]:
        return self.reported.begin_ns / log.SECOND, self.reported.end_ns / log.SECOND


Begun = Callable[[int], None]
"""Called with the begin of the window once it is known."""

Run = Callable[[int, Begun], Reported]
"""Runs a test of the target at a port, and returns its report."""


def measure(cell: Cell, server: Server) -> Measured:
    """Run a cell directly with the engine."""

    def run(port: int, begun: Begun) -> Reported:
        return engine_face.measure(
            cell.scenarios,
            port,
            threads=cell.threads,
            stagger_s=cell.shape.operation_s,
            begun=begun,
            objectives=OBJECTIVES,
        )

    due = due_of(cell)
    return compare(cell, server, run, due, edges_s=log.READING_S if cell.threads > 1 else 0.0)


def compare(
    cell: Cell, server: Server, run: Run, due: log.Due, *, tls: bool = False, edges_s: float = 0.0
) -> Measured:
    """Run a test of the cell, and return its report with the log's figures.

    `edges_s` is the distance between the edges of several windows.
    """
    port = server.open(cell.protocol, unanswered_every=cell.fault.unanswered_every, tls=tls)
    stall_s = None

    def begun(begin_ns: int) -> None:
        nonlocal stall_s
        faults: dict[str, Any] = {}
        if cell.fault.stall_s is not None:
            stall_ns = [begin_ns + round(each * log.SECOND) for each in cell.fault.stall_s]
            faults["stall_ns"] = stall_ns
            stall_s = stall_ns[0] / log.SECOND, stall_ns[1] / log.SECOND
        if cell.fault.reset_s is not None:
            faults["reset_ns"] = begin_ns + round(cell.fault.reset_s * log.SECOND)
        server.do(port=port, **faults)

    before = _cpu_s()
    reported = run(port, begun)
    others = _others(before, _cpu_s())
    edges_s *= _FURTHER_APART if others > CROWDED else 1.0
    # Requests that a command sends before the load have no such key.
    closed = server.do(close=port)
    requests = [each for each in closed["requests"] if each[-1].count(".") >= 3]
    found = log.truth(
        requests,
        log.apart(due, edges_s) if edges_s else due,
        timeout_s=TIMEOUT_S,
        pauses=cell.shape.pauses,
        arrives=cell.schedule.arrives,
        counts=cell.shape.counts,
    )
    found = replace(found, edges_s=edges_s, binds=closed["binds"])
    return Measured(cell, reported, found, others, stall_s)


OBJECTIVES = ("max<900ms", "failures<0.1%")


def due_of(cell: Cell) -> log.Due:
    """Return the function for the due times of a cell's operations."""
    shape, schedule = cell.shape, cell.schedule
    if schedule.stages:
        return log.staged(schedule.stages_of(shape))
    if schedule.name == "even":
        return log.evenly(schedule.rate_of(shape))
    waits = shape.waits or shape.waits_for_row
    if schedule.name == "poisson":
        return log.saturated(shape.at_a_time) if waits else log.at_once
    return log.behind_each_other if shape.waits else log.at_once


def _cpu_s() -> tuple[float, float, float]:
    """Return the time, the machine's CPU time, and that of this process and its children."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    tick = os.sysconf("SC_CLK_TCK")
    busy = sum(int(each) for n, each in enumerate(fields) if n not in (3, 4)) / tick
    this = psutil.Process()
    own = 0.0
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            used = process.cpu_times()
            own += used.user + used.system + used.children_user + used.children_system
    return time.monotonic(), busy, own


def _others(begin: Sequence[float], end: Sequence[float]) -> float:
    wall, busy, own = (after - before for before, after in zip(begin, end, strict=True))
    return (busy - own) / (wall * (os.cpu_count() or 1))


def null_s(null: Measured) -> float:
    """Return the time that the load generator added to a constant time, in a cell without fault."""
    services = [each.service_s for each in null.truth.requests if each.service_s is not None]
    return max(log.SENDING_S, null.reported.latency.max - max(services))


def problems(measured: Measured, null: Measured) -> Iterator[str]:
    """Yield all differences between a cell and the log."""
    cell, truth = measured.cell, measured.truth
    if cell.shape.wrong:
        yield from checks.wrong(measured.reported, truth, measured.window_s, null_s(null))
        return
    yield from checks.whole(measured.reported, truth)
    yield from checks.window(measured.reported, truth, measured.window_s)
    yield from checks.times(measured.reported, truth, measured.window_s, null_s(null))
    if cell.shape.counts is None:
        yield from checks.clocks(
            measured.reported, truth, measured.window_s, null_s(null), waits=cell.shape.waits
        )
    match cell.shape.name:
        case "once":
            yield from checks.once(truth)
        case "exclusive":
            yield from checks.exclusive(truth)
        case "capture":
            yield from checks.captured(truth)
        case "pool":
            yield from checks.places(truth, cell.shape.at_a_time * cell.workers)
        case "connection per step" | "unbind" | "http 1.0":
            yield from checks.connections(truth)
        case "a step on another connection":
            yield from checks.apart(truth)
        case "a row for each user":
            yield from checks.kept(truth)


def differences(one: Measured, other: Measured) -> Iterator[str]:
    """Yield the differing counts of two cells whose differences must not change figures."""
    decks, slow_ones = 8, 0.1
    rows = [
        {key[0]: measured.reported.rows[key] for key in measured.reported.counted}
        for measured in (one, other)
    ]
    for name in rows[0].keys() | rows[1].keys():
        first, second = rows[0].get(name, Row()), rows[1].get(name, Row())
        slow = max(first.slow or 0, second.slow or 0)
        allowed = {
            "count": decks + (first.count // 20 if not one.cell.schedule.arrives else 0),
            "failures": 2,
            "unanswered": 2,
            "slow": round(3 + slow_ones * slow),
        }
        for field, most in allowed.items():
            values = getattr(first, field), getattr(second, field)
            if abs(values[0] - values[1]) > most:
                yield f"{field} of {name!r}: {values[0]} and {values[1]}"
