"""The role of a worker: it makes its share of a load, and reports on request of its master."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import gevent  # type: ignore[import-untyped]
from locust.runners import WorkerRunner
from msgspec.structs import asdict

from sitebench.counts.source import Drained, ended
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, BadMessage, SitebenchError
from sitebench.locust.lanes import Lanes
from sitebench.locust.role import TICK_S, Role
from sitebench.locust.workers import messages
from sitebench.locust.workers.build import refuse_other, this_build
from sitebench.locust.workers.clock import epoch_ns
from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Sample
from sitebench.monitor.use import Use
from sitebench.runs.windows import Phase
from sitebench.system.child import dump, is_orphaned
from sitebench.system.machine import this_machine
from sitebench.system.network import on_loopback, this_loopback

log = logging.getLogger("sitebench")

_SILENT_S = 20.0
"""A master requests drains twice a second: a master that is silent for so long is gone."""


class _WorkerLoad:
    """The lanes of this worker in one test."""

    def __init__(self, runner: WorkerRunner, lanes: Lanes) -> None:
        self.lanes = lanes
        self._runner = runner
        self._monitor = Monitor(None)
        self._bounds: dict[Phase, Sample] = {}
        self._phase = Phase.RAMP
        self._measured_s = 0.0
        self._use_sent = False
        self._did = 0
        self._asked = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((runner.master_host, runner.master_port))
                address = probe.getsockname()[0]
            except OSError:
                address = "?"
        messages.Opened(
            **asdict(this_build()),
            host=socket.gethostname(),
            address=address,
            pid=os.getpid(),
            machine=this_machine(),
            client=lanes.client,
            cpu=self._cpu_ns(lanes.drain(shown=False)),
        ).send(runner)

    def _cpu_ns(self, drained: Drained) -> list[int]:
        return [time.process_time_ns()] if self.lanes.portable else list(drained.cpu_ns)

    def answer(self, question: messages.Ask) -> None:
        received_ns = time.monotonic_ns()
        self._asked = time.monotonic()
        if not question.shown:
            # Counts that Locust has not sent yet are discarded too.
            self._runner.stats.clear_all()
        drained = self.lanes.drain(shown=question.shown, cut=question.begins is not None)
        self._report(drained, question, received_ns)

    def leave(self, question: messages.Ask | None = None) -> None:
        """Stop the lanes and report their last counts; later calls do nothing."""
        received_ns = time.monotonic_ns()
        if (drained := self.lanes.stop()) is not None:
            # Locust's own counts come first: the master does not wait for them after this report.
            self._runner._send_stats()
            self._report(drained, question, received_ns, last=True)
            self._monitor.close()

    def _report(
        self,
        drained: Drained,
        question: messages.Ask | None,
        received_ns: int,
        *,
        last: bool = False,
    ) -> None:
        self._did += sum(step.count for step in ended(drained))
        if self._phase == Phase.MEASURE:
            self._measured_s += (drained.t1_ns - drained.t0_ns) / 1e9
        begins = None if question is None else question.begins
        counts = messages.pack(drained, self._cpu_ns(drained))
        use = self._use(begins, last=last)
        messages.Report(
            number=None if question is None else question.number,
            sent=None if question is None else question.sent,
            received=received_ns,
            last=last,
            did=self._did,
            drained=counts,
            use=use,
            answered=time.monotonic_ns(),
            epoch=epoch_ns(),
        ).send(self._runner)

    def _use(self, begins: str | None, *, last: bool) -> Use | None:
        """Return the resource use of the measured window, once, after its end."""
        if begins is not None:
            self._phase = Phase(begins)
            self._bounds[self._phase] = self._monitor.sample(thorough=True)
        if begins == Phase.MEASURE:
            self._measured_s = 0.0
        start, end = self._bounds.get(Phase.MEASURE), self._bounds.get(Phase.AFTER)
        if start is None or self._use_sent or not (end or last):
            return None
        self._use_sent = True
        end = end or self._monitor.sample(thorough=True)
        return use_between(start, end, self._measured_s)

    @property
    def is_abandoned(self) -> bool:
        return not self.lanes.stopped and time.monotonic() - self._asked > _SILENT_S


class WorkerRole(Role):
    """Takes its slot in a master's test; a worker that connects later has no slot."""

    RECEIVES: ClassVar[tuple[str, ...]] = (messages.Ping.TYPE, messages.Ask.TYPE)
    runner: WorkerRunner
    _load: _WorkerLoad | None = None

    def begin(self) -> None:
        data = getattr(self.environment.parsed_options, messages.SHARED)
        refuse_other("the master", data.get("build", {}))
        shared = messages.read(messages.Shared, data)
        index = shared.slots.get(self.runner.client_id)
        if index is None:
            return
        try:
            test = self.suite_run.read_test(shared.test)
        except SitebenchError:
            raise
        # Any program that poses as a master may send anything.
        except Exception as error:
            raise BadMessage(
                f"the master's test is invalid: {type(error).__name__}: {error}",
                "run the same sitebench on the master's machine and on the workers'",
            ) from error
        host = test.target.address.host
        if on_loopback(host) and shared.loopback != this_loopback():
            raise BadInput(
                f"the target listens on {host} of the master's machine, which this worker cannot "
                "reach",
                "give an address that workers can reach: --target-host for an embedded target",
            )
        available: Any = self.environment.available_user_classes
        if available:
            names = test.user_classes
            if missing := [name for name in names if name not in available]:
                raise BadInput(
                    f"the locustfile of this worker has no {', '.join(missing)}",
                    "start the worker with the master's locustfile, or with -f - to receive it",
                )
            self.environment.user_classes = [available[name] for name in names]
        lanes = self.open_lanes(test, WorkerSlot(index, len(shared.slots)))
        self._load = load = _WorkerLoad(self.runner, lanes)

        def look_for_master() -> None:
            while not self.ending:
                if is_orphaned() or load.is_abandoned:
                    log.error("the master has ended")
                    self.finish()
                    self.runner.quit()
                gevent.sleep(TICK_S)

        self.spawn(look_for_master)

    def receive(self, message: str, sender: str, data: Mapping[str, Any]) -> None:
        if message == messages.Ping.TYPE:
            received, ping = time.monotonic_ns(), messages.read(messages.Ping, data)
            pong = messages.Pong(ping.sent, received, time.monotonic_ns(), epoch_ns())
            pong.send(self.runner)
            return
        load = self._load
        if load is None or self.ending:
            return
        question = messages.read(messages.Ask, data)
        if not question.last:
            load.answer(question)
            return
        self.ending = True
        gevent.spawn(load.leave, question).link(lambda _: self._ended.set())

    def report_failure(self, error: SitebenchError) -> None:
        self.finish()
        messages.Failed(dump(error)).send(self.runner)

    def finish(self) -> None:
        if self._load is None:
            return
        if self.ending:
            self._ended.wait()
            return
        self.ending = True
        try:
            self._load.leave()
        finally:
            self._ended.set()
