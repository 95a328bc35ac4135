"""What a half brings to the bridge: its test, where that is recorded, how it begins and ends."""

from __future__ import annotations

from typing import Any, Protocol

from locust.env import Environment

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import SitebenchError
from sitebench.locust.lanes import Session
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Recording


class Workload(Protocol):
    """A half's part: what the test is, and how it begins and ends."""

    def check(self, options: Any) -> None:
        """Raise what is wrong with options, as far as can be told before anything is started."""

    def prepare(self, environment: Environment, slots: int, preparing: Preparing) -> dict[str, Any]:
        """Make the target ready, once, where the test is commanded; describe it as plain data.

        `slots` is the number of processes that will make load. The bridge itself reads `url`,
        `warmup_s` and `measure_s` from it. `preparing` is told how far it is.
        """

    def record(self, prepared: dict[str, Any]) -> Recording:
        """Open what the test is written to, where it is commanded."""

    def open(self, prepared: dict[str, Any], slot: WorkerSlot) -> Session:
        """Open the session in a process that makes load."""

    def failed(self, error: SitebenchError) -> None:
        """Record that the test could not go on."""

    def finish(self) -> None:
        """End what `prepare` started."""
