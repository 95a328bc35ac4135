from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from locust.env import Environment

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import SitebenchError
from sitebench.locust.lanes import Lanes
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Recording
from sitebench.measure.options import LoadOptions
from sitebench.measure.test import Test


class SuiteRun(Protocol):
    """The methods of a suite that roles and the web UI call."""

    @property
    def point(self) -> str | None:
        """The key of the measured point; None for a test that a user controls."""

    def lane_classes(self, users: Iterable[type[Any]]) -> list[type[Any]]:
        """Return the user classes that are lanes; Locust itself runs the others."""

    def check(self, options: LoadOptions, users: Sequence[type[Any]]) -> None:
        """Check options for these user classes, as far as possible without the target."""

    def prepare(self, environment: Environment, processes: int, preparing: Preparing) -> Test:
        """Make the target ready, once, in the commanding process.

        `processes` is the number of processes that will make load; `preparing` shows the progress.
        """

    def read_test(self, data: dict[str, Any]) -> Test:
        """Read the prepared test of a master, in a worker."""

    def record(self, test: Test) -> Recording:
        """Open the destinations of the test's data, in the commanding process."""

    def open(self, test: Test, slot: WorkerSlot) -> Lanes:
        """Open the lanes, in a process that makes load."""

    def record_failure(self, error: SitebenchError) -> None:
        """Record why the test could not go on."""

    def finish(self) -> None:
        """Undo `prepare`; a second call does nothing."""
