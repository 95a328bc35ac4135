"""The role of a process in one test: `role_local`, `workers.master` or `workers.worker`."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import gevent  # type: ignore[import-untyped]
import locust.runners
from gevent.event import Event  # type: ignore[import-untyped]
from locust.env import Environment

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import MeasurementFailed, OutOfDescriptors, SitebenchError
from sitebench.locust.lanes import Lanes, no_files
from sitebench.locust.portable import PortableLane
from sitebench.locust.preparing import Preparing
from sitebench.locust.suite_run import SuiteRun
from sitebench.measure.test import Test
from sitebench.system.child import is_orphaned

log = logging.getLogger("sitebench")

TICK_S = 0.5


def raise_if_orphaned() -> None:
    if is_orphaned():
        raise MeasurementFailed(
            "the sweep that started this point has ended", "resume its run file"
        )


class Role:
    """A role in one test; Locust's next test gets a new role."""

    RECEIVES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, environment: Environment, runner: Any, suite_run: SuiteRun) -> None:
        self.environment = environment
        self.runner = runner
        self.suite_run = suite_run
        self.lanes: Lanes | None = None
        self.preparing: Preparing | None = None
        self.failed = False
        self.ending = False
        self._ended = Event()

    # `Bridge` calls these methods on events of Locust.

    def begin(self) -> None:
        raise NotImplementedError

    def users_spawned(self) -> None:
        """Begin the phases, as all users run now."""

    def discard(self) -> None:
        """Remove the recorders' counts from Locust's screens, not from the run file."""

    def stop_preparing(self) -> None: ...
    def stop(self) -> None:
        self.finish()

    def finish(self) -> None:
        """Stop the lanes and take their last counts; a second call waits for the first."""
        raise NotImplementedError

    def nothing_done(self) -> SitebenchError | None:
        return None

    def clean_up(self) -> None:
        """Restore the target as it was before the test."""

    def receive(self, message: str, sender: str, data: Mapping[str, Any]) -> None: ...
    def uses(self, worker: str) -> bool:
        """Return whether a worker takes part in this test, or may take part in the next."""
        return True

    # Lanes are started and stopped with their users.

    def open_lanes(self, test: Test, slot: WorkerSlot) -> Lanes:
        self.lanes = lanes = self.suite_run.open(test, slot)
        # Each engine thread may use a core, so Locust warns only of CPU use beyond these cores.
        locust.runners.CPU_WARNING_THRESHOLD = 90 + 100 * lanes.threads
        return lanes

    def start_lane(self, program: str) -> PortableLane | None:
        try:
            return None if self.lanes is None or self.failed else self.lanes.start(program)
        except OutOfDescriptors:
            self.fail(no_files())
            return None

    def stop_lane(self, program: str) -> None:
        if self.lanes is not None:
            self.lanes.stop_one(program)

    # Failures end the test early.

    def fail(self, error: SitebenchError) -> None:
        """End the test with an error; later errors are consequences of the first."""
        if not self.failed:
            self.failed = True
            log.error("%s", error)
            self.report_failure(error)

    def report_failure(self, error: SitebenchError) -> None:
        raise NotImplementedError

    def spawn(self, function: Callable[[], None]) -> gevent.Greenlet:
        """Start a greenlet; its failure ends the test."""

        def run_guarded() -> None:
            try:
                function()
            except SitebenchError as error:
                self.fail(error)  # gevent itself would print a traceback.

        greenlet = gevent.spawn(run_guarded)
        greenlet.link_exception(self._on_crash)
        return greenlet

    def _on_crash(self, greenlet: gevent.Greenlet) -> None:
        error = greenlet.exception
        if isinstance(error, OSError) and error.errno == errno.EMFILE:
            error = no_files()
        if not isinstance(error, OutOfDescriptors):
            message = f"the measurement broke off: {type(error).__name__}: {error}"
            error = MeasurementFailed(message, "report this, with the traceback above")
        self.fail(error)
