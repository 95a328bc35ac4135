"""The role of a worker: it makes its share of a load, and reports when its master asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

import gevent  # type: ignore[import-untyped]
from locust.runners import WorkerRunner

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import SitebenchError
from sitebench.locust.role import TICK_S, Role
from sitebench.locust.workers import messages
from sitebench.locust.workers.worker import (
    WorkerLoad,
    answer_ping,
    refuse_unknown,
    refuse_unreachable,
    send_failure,
)
from sitebench.system.child import orphaned

log = logging.getLogger("sitebench")


class WorkerRole(Role):
    """Takes its slot in a master's test; a worker that came after the start has none."""

    RECEIVES: ClassVar[tuple[str, ...]] = (messages.PING, messages.DRAIN)
    runner: WorkerRunner
    _load: WorkerLoad | None = None

    def begin(self) -> None:
        """Make ready to start lanes, and say so to the master."""
        prepared = getattr(self.environment.parsed_options, messages.PREPARED)
        index = prepared["slots"].get(self.runner.client_id)
        if index is None:
            return
        refuse_unreachable(prepared["url"], prepared["loopback"])
        available: Any = self.environment.available_user_classes
        if available:
            refuse_unknown(prepared["user_classes"], available)
            self.environment.user_classes = [available[n] for n in prepared["user_classes"]]
        lanes = self.open_lanes(prepared, WorkerSlot(index, len(prepared["slots"])))
        self._load = load = WorkerLoad(self.runner, lanes)

        def look_for_master() -> None:
            while not self.ending:
                if orphaned() or load.abandoned:
                    log.error("the master is gone")
                    self.finish()
                    self.runner.quit()
                gevent.sleep(TICK_S)

        self.spawn(look_for_master)

    def receive(self, message: str, sender: str, data: Mapping[str, Any]) -> None:
        """Answer the master."""
        if message == messages.PING:
            answer_ping(self.runner, data)
            return
        load = self._load
        if load is None or self.ending:
            return
        if not data["last"]:
            load.answer(data)
            return
        self.ending = True
        gevent.spawn(load.leave, data).link(lambda _: self._ended.set())

    def report_failure(self, error: SitebenchError) -> None:
        """Leave it to the master to end the test."""
        self.finish()
        send_failure(self.runner, error)

    def finish(self) -> None:
        """Stop the lanes and send their last batch; a second call waits for the first."""
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
