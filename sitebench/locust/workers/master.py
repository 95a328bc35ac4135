"""The role of a master: it commands a test whose load its workers make.

Every request for a drain has a number; `merge` adds up the answers of all workers in this order. A
worker reports its total of operations, so that lost operations are noticed.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import gevent  # type: ignore[import-untyped]
import locust.runners
import msgspec
from gevent.lock import RLock  # type: ignore[import-untyped]
from locust.runners import STATE_MISSING, MasterRunner
from msgspec.structs import asdict

from sitebench.counts.worker_seen import WorkerSeen
from sitebench.errors import BadMessage, SitebenchError, WorkersMissing, printable
from sitebench.locust.lanes import LoadSource
from sitebench.locust.role_local import LocalRole
from sitebench.locust.workers import gathering, messages
from sitebench.locust.workers.build import refuse_other, this_build
from sitebench.locust.workers.clock import ENOUGH, Ping, WorkerClock
from sitebench.locust.workers.merge import Merger, Round, Share
from sitebench.monitor.use import Use
from sitebench.runs.windows import Phase, Windows
from sitebench.system.child import revive
from sitebench.system.network import this_loopback

log = logging.getLogger("sitebench")

locust.runners.HEARTBEAT_LIVENESS = 10
"""Seconds without a heartbeat after which Locust considers a worker lost. Its default of three is
too short on a busy machine: there, Locust lost all workers of a test although they were alive."""

_OPENS_S = 600.0
"""Longest time for lanes to open while heartbeats arrive."""
_QUIET_S = 30.0
"""A worker without an answer for this long is lost, even if its heartbeats arrive."""
_POLL_S = 0.02


class _RemoteWorker(msgspec.Struct):
    index: int
    facts: messages.Opened | None = None
    clock: WorkerClock = msgspec.field(default_factory=WorkerClock)
    received: float = msgspec.field(default_factory=time.monotonic)
    did: int = 0
    use: Use | None = None
    ended: str | None = None

    @property
    def name(self) -> str:
        return f"worker {self.index}" if self.facts is None else self.to_seen(None, 0).name

    @property
    def ready(self) -> bool:
        return self.facts is not None and self.clock.pings >= ENOUGH

    def learn(self, sent_ns: int, answer: messages.Pong | messages.Report) -> None:
        self.received = time.monotonic()
        ping = Ping(sent_ns, answer.received, answer.answered, time.monotonic_ns())
        self.clock.learn(ping, answer.epoch)

    def to_seen(self, share: Share | None, counted: int) -> WorkerSeen:
        facts, share = self.facts, share or Share()
        return WorkerSeen(
            self.index,
            *("?", "?", 0, "?", "?")
            if facts is None
            else (facts.host, facts.address, facts.pid, facts.machine, facts.client),
            share.seconds,
            share.operations,
            share.failures,
            tuple(ns / 1e9 for ns in share.cpu_ns),
            self.use,
            self.clock.round_trip_s,
            self.clock.skew_s,
            self.ended,
            self.did - counted,
        )


class _DistributedLoad(LoadSource):
    """All workers of one test, by their ids in Locust, and the windows that take their drains."""

    def __init__(self, runner: MasterRunner, slots: Mapping[str, int], windows: Windows) -> None:
        super().__init__(windows)
        self._workers = {id_: _RemoteWorker(index) for id_, index in slots.items()}
        self._runner = runner
        self._merger: Merger | None = None
        """None until the drains begin."""
        self._settling = RLock()

    # Messages that workers send.

    def take_opened(self, id_: str, data: Any) -> None:
        """Note that a worker's lanes are open; raises OtherBuild if its build differs."""
        if (worker := self._workers.get(id_)) is not None:
            refuse_other(worker.name, data)
            worker.facts, worker.received = messages.read(messages.Opened, data), time.monotonic()
            self._ping(id_)

    def _ping(self, id_: str) -> None:
        messages.Ping(time.monotonic_ns()).send(self._runner, id_)

    def pong(self, id_: str, pong: messages.Pong) -> None:
        """Note a worker's clock, and ping again until enough pings are known."""
        if (worker := self._workers.get(id_)) is not None:
            worker.learn(pong.sent, pong)
            if worker.clock.pings < ENOUGH:
                self._ping(id_)

    def report(self, id_: str, report: messages.Report) -> None:
        worker = self._workers.get(id_)
        if worker is None or self._merger is None or not self._merger.knows(id_):
            return
        if report.sent is not None:
            worker.learn(report.sent, report)
        worker.did = report.did
        if report.use is not None:
            worker.use = report.use
        part = messages.unpack(report.drained)
        self._merger.answer(id_, report.number, worker.clock.on_master(part))
        if report.last and report.number is None:
            self._remove(id_, "left")
        self._settle()

    def take_failure(self, id_: str, failed: messages.Failed) -> SitebenchError:
        """Return the error that a worker sent, with its name, and dismiss the worker."""
        error = revive(failed.error)
        self.dismiss(id_)
        return type(error)(f"{self.name(id_)}: {error.message}", error.remedy)

    def dismiss(self, id_: str) -> None:
        if id_ in self._workers:
            self._remove(id_, "left")

    def name(self, id_: str) -> str:
        return self._workers[id_].name if id_ in self._workers else id_

    # Requests to workers.

    def gather(self) -> None:
        self._gather(_OPENS_S, lambda worker: worker.ready)
        if not self._cpu_at_start():
            raise WorkersMissing(
                "no worker could begin", "see the workers' own output for the reason"
            )

    def _gather(self, within_s: float, ready: Callable[[_RemoteWorker], bool]) -> None:
        """Wait for workers, unless another greenlet has ended the wait."""
        give_up = time.monotonic() + within_s
        while self._merger is None:
            self._find_lost()
            missing = [w for w in self._workers.values() if not (w.ended or ready(w))]
            if not missing or time.monotonic() > give_up:
                self._merger = Merger(self._cpu_at_start(), Phase.RAMP)
                return
            gevent.sleep(_POLL_S)

    def _cpu_at_start(self) -> dict[str, tuple[int, ...]]:
        """Return the present workers, and the CPU that they had used when they began."""
        return {
            id_: tuple(worker.facts.cpu)
            for id_, worker in self._workers.items()
            if worker.facts is not None and not worker.ended
        }

    def await_users(self) -> None:
        """Wait until every user has a lane: Locust itself waits for only a second."""
        give_up = time.monotonic() + _OPENS_S
        while self._merger is None or self._runner.user_count != self._runner.target_user_count:
            if time.monotonic() > give_up or any(worker.ended for worker in self._workers.values()):
                return
            gevent.sleep(_POLL_S)

    def drain(self, *, shown: bool = True) -> None:
        self._ask(shown=shown)

    def enter_phase(self, phase: Phase) -> None:
        self._await(self._ask(phase))

    def finish(self) -> None:
        # A worker may still be opening its lanes. The master waits for it, so that it gets the
        # request to stop them.
        self._gather(_QUIET_S, lambda worker: worker.facts is not None)
        self._await(self._ask(last=True))

    def _ask(
        self, begins: Phase | None = None, *, shown: bool = True, last: bool = False
    ) -> Round | None:
        if self._merger is None:
            return None
        round_ = self._merger.ask(begins)
        for id_ in round_.waiting:
            question = messages.Ask(round_.number, begins, shown, last, time.monotonic_ns())
            question.send(self._runner, id_)
        self._find_lost()
        self._settle()
        return round_

    def _await(self, round_: Round | None) -> None:
        while round_ is not None and round_.waiting:
            self._find_lost()
            self._settle()
            gevent.sleep(_POLL_S)
        self._settle()

    def _settle(self) -> None:
        if self._merger is None:
            return
        # A greenlet may have to wait while it writes a round. Meanwhile an answer may settle the
        # next round, which must be written later.
        with self._settling:
            for round_, drained in self._merger.settle(time.monotonic_ns()):
                self._take(drained, None if round_.begins is None else Phase(round_.begins))

    # Workers that have ended or do not answer.

    def _find_lost(self) -> None:
        waiting = None if self._merger is None else self._merger.present
        for id_, worker in self._workers.items():
            if worker.ended or (waiting is not None and id_ not in waiting):
                continue
            node = self._runner.clients.get(id_)
            quiet = waiting is not None and time.monotonic() - worker.received > _QUIET_S
            if node is None or node.state == STATE_MISSING or quiet:
                self._remove(id_, "lost")

    def _remove(self, id_: str, how: str) -> None:
        worker = self._workers[id_]
        if worker.ended is None:
            worker.ended = how
            if how == "lost":
                log.warning("%s was lost: the counts it had sent are kept", worker.name)
        if self._merger is not None:
            self._merger.remove(id_)

    def conclude(self) -> None:
        """Give the windows the workers' facts, and the length from `Merger.window_s`."""
        merger = self._merger
        if merger is None or self._windows.measured is None:
            return
        shares = merger.shares.get(Phase.MEASURE, {})
        self._windows.workers = tuple(
            worker.to_seen(shares.get(id_), merger.operations_of(id_))
            for id_, worker in self._workers.items()
        )
        self._windows.measured.length_s = merger.window_s(Phase.MEASURE)


class MasterRole(LocalRole):
    """Divides a test among the workers that are connected when it begins."""

    RECEIVES: ClassVar[tuple[str, ...]] = (
        messages.Opened.TYPE,
        messages.Pong.TYPE,
        messages.Report.TYPE,
        messages.Failed.TYPE,
    )
    runner: MasterRunner
    _slots: dict[str, int] | None = None
    """The slots of participating workers, by their ids in Locust."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._logged_reasons = set[str]()

    def start(self) -> None:
        self._slots = slots = gathering.slots(self.runner)
        test = self.prepare(len(slots))
        self._share(slots, test.to_message())
        recording = self.record(test)
        self.run(_DistributedLoad(self.runner, slots, recording.windows), test)

    def stand_by(self) -> None:
        self._share({}, {})

    def _share(self, slots: dict[str, int], test: dict[str, Any]) -> None:
        """Put the test into Locust's options, which Locust sends to the workers."""
        if (options := self.environment.parsed_options) is not None:
            shared = messages.Shared(asdict(this_build()), slots, this_loopback(), test)
            setattr(options, messages.SHARED, msgspec.to_builtins(shared))

    def uses(self, worker: str) -> bool:
        return self._slots is None or worker in self._slots

    def receive(self, message: str, sender: str, data: Mapping[str, Any]) -> None:
        """Pass a worker's message to the load, if any."""
        load = self._load
        if message == messages.Failed.TYPE and sender not in self.runner.clients:
            self._stays_away(sender, data)
            return
        if not isinstance(load, _DistributedLoad):
            return
        try:
            if message == messages.Opened.TYPE:
                load.take_opened(sender, data)
            elif message == messages.Pong.TYPE:
                load.pong(sender, messages.read(messages.Pong, data))
            elif message == messages.Report.TYPE:
                load.report(sender, messages.read(messages.Report, data))
            else:
                error = load.take_failure(sender, messages.read(messages.Failed, data))
                if not self.ending:
                    self.fail(error)
        except SitebenchError:
            load.dismiss(sender)
            raise
        # Any program that reaches the port may send anything: an invalid message ends the test.
        except Exception as error:
            load.dismiss(sender)
            raise BadMessage(
                f"{load.name(sender)} sent an invalid message: {type(error).__name__}: {error}",
                "run the same sitebench on the master's machine and on the workers'",
            ) from error

    def _stays_away(self, sender: str, data: Any) -> None:
        """Log once why a worker cannot take part: it is restarted and refused every second."""
        with contextlib.suppress(BadMessage, KeyError):
            error = revive(messages.read(messages.Failed, data).error)
            reason = f"a worker on {printable(sender.partition('_refused_')[0])}: {error}"
            if reason not in self._logged_reasons:
                self._logged_reasons.add(reason)
                log.error("%s", reason)

    def finish(self) -> None:
        """Stop the lanes of all workers; then any worker may take part in the next test."""
        super().finish()
        if self._load is not None:
            self._slots = None
