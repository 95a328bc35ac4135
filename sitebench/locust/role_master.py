"""The role of a master: it commands a test whose load its workers make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from locust.runners import MasterRunner

from sitebench.locust.role_local import LocalRole
from sitebench.locust.stalls import StallWarnings
from sitebench.locust.workers import gathering, messages
from sitebench.locust.workers.master import DistributedLoad
from sitebench.system.network import this_loopback


class MasterRole(LocalRole):
    """Divides a test among the workers that are there when it begins."""

    RECEIVES: ClassVar[tuple[str, ...]] = (
        messages.OPENED,
        messages.PONG,
        messages.REPORT,
        messages.FAILED,
    )
    runner: MasterRunner
    _slots: dict[str, int] | None = None
    """The slot of each worker that takes part, by its name in Locust."""

    def start(self) -> None:
        """Have the target made ready, and hand every worker the prepared test."""
        self._slots = slots = gathering.slots(self.runner)
        prepared = {
            **self.prepare(len(slots)),
            "slots": slots,
            "loopback": this_loopback(),
            "user_classes": [each.__name__ for each in self.environment.user_classes],
        }
        if (options := self.environment.parsed_options) is not None:
            setattr(options, messages.PREPARED, prepared)
        recording = self.record(prepared)
        load = DistributedLoad(self.runner, slots, recording.windows, StallWarnings().check)
        self.run(load, recording, prepared)

    def uses(self, worker: str) -> bool:
        """Return whether a worker takes part in this test, or may in the next."""
        return self._slots is None or worker in self._slots

    def receive(self, message: str, sender: str, data: Mapping[str, Any]) -> None:
        """Take a worker's message; before the load exists there is nothing to tell it."""
        load = self._load
        if not isinstance(load, DistributedLoad):
            return
        if message == messages.OPENED:
            load.opened(sender, data)
        elif message == messages.PONG:
            load.pong(sender, data)
        elif message == messages.REPORT:
            load.report(sender, data)
        else:
            error = load.failed(sender, data)
            if not self.ending:
                self.fail(error)

    def finish(self) -> None:
        """Have all workers stop their lanes; from then on any worker may take part in the next."""
        super().finish()
        if self._load is not None:
            self._slots = None
