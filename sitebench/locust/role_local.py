"""The role of the process that commands a test; without workers, it also makes the whole load.

A master (`workers.master`) commands in the same way; its workers make the load.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

import gevent  # type: ignore[import-untyped]
from locust.runners import STATE_SPAWNING, LocalRunner

from sitebench.counts import fail_log
from sitebench.counts.fail_log import FailLog
from sitebench.counts.stages import Stages
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, CannotRecord, MeasurementFailed, SitebenchError
from sitebench.locust.lanes import LoadSource, LocalLoad
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Recording
from sitebench.locust.role import TICK_S, Role, raise_if_orphaned
from sitebench.measure.options import LoadOptions
from sitebench.measure.test import Test
from sitebench.runs.windows import Phase
from sitebench.units import plural

log = logging.getLogger("sitebench")

_USERS_S = 0.25


class LocalRole(Role):
    """Prepares the target, drains the load, records it, and begins one phase after another."""

    _load: LoadSource | None = None
    _recording: Recording | None = None
    _options: LoadOptions
    """Without `measure`, the test lasts until it is stopped."""
    _timer: gevent.Greenlet | None = None
    """Begins the phases of the test once all users run."""
    _begun = False
    _over = False
    """Whether the measured window was complete."""
    _preparer: gevent.Greenlet | None = None

    def begin(self) -> None:
        users = self.environment.user_classes
        if lane_users := self.suite_run.lane_classes(users):
            _refuse_idle(lane_users, users)
            self._begun = True
            self.start()
        else:
            self.stand_by()

    def stand_by(self) -> None: ...
    def start(self) -> None:
        test = self.prepare(1)
        recording = self.record(test)
        lanes = self.open_lanes(test, WorkerSlot())
        self.run(LocalLoad(lanes, recording.windows), test)

    def prepare(self, processes: int) -> Test:
        """Prepare the target; the web UI shows the progress, and can stop it."""
        if self.environment.web_ui is not None and isinstance(self.runner, LocalRunner):
            self.runner.update_state(STATE_SPAWNING)
        self.preparing, self._preparer = Preparing(), gevent.getcurrent()
        try:
            return self.suite_run.prepare(self.environment, processes, self.preparing)
        except gevent.GreenletExit:
            # No test begins, so a master fires no event that would call `finish`.
            self.suite_run.finish()
            raise
        finally:
            self.preparing = self._preparer = None

    def stop_preparing(self) -> None:
        """Stop the preparations in an orderly way, so that added people can be removed."""
        if self._preparer is not None and self._preparer is not gevent.getcurrent():
            self._preparer.kill()

    def record(self, test: Test) -> Recording:
        self._recording = recording = self.suite_run.record(test)
        return recording

    def run(self, load: LoadSource, test: Test) -> None:
        self._load, recording = load, self._recording
        self._options = options = test.options
        if (path := options.fail_log) is not None:
            point = self.suite_run.point
            if point is None:
                fail_log.begin(path)
            else:
                fail_log.forget(path, point)
            load.fail_log = FailLog(path, point)

        def tick() -> None:
            load.gather()
            while not self.ending:
                raise_if_orphaned()
                load.drain()
                if recording is not None:
                    recording.watch()
                # Users who have not started yet still have data, so the test does not end before
                # its phases.
                if load.used_up and self._timer is not None:
                    self._end_used_up(self._timer)
                self._ended.wait(TICK_S)

        self.spawn(tick)

    def users_spawned(self) -> None:
        """Begin the phases; after a change of the number of users, measure again from now on."""
        if self.environment.reset_stats:
            self.discard()
        load, recording = self._load, self._recording
        if load is None or recording is None or self.ending:
            return  # The last user started as the test was stopped.
        if self._timer is None:
            self._timer = self.spawn(lambda: self._walk(load, recording))
        elif (
            recording.windows.phase is Phase.MEASURE
            and recording.until_stopped
            and self._options.stages is None
        ):
            self._timer.kill(block=False)
            self._timer = self.spawn(lambda: self._measure_anew(load))

    def _walk(self, load: LoadSource, recording: Recording) -> None:
        load.await_users()
        options = self._options
        if options.warmup > 0:
            self._enter(Phase.WARMUP, load)
            gevent.sleep(options.warmup)
        self._enter(Phase.MEASURE, load)
        if options.measure is None:
            return
        began, further_s = time.monotonic(), options.measure
        if options.stages is not None and options.stages.of_users:
            self._come_and_go(options.stages, began)
        else:
            while further_s > 0:
                gevent.sleep(further_s)
                further_s = recording.further_s(time.monotonic() - began, options.measure)
        self._over = not self.ending
        self.finish()
        gevent.spawn(self._end_test)

    def _come_and_go(self, stages: Stages, began: float) -> None:
        # A kill does not reach a greenlet that wakes in the same turn of the event loop. Without
        # the check of `ending`, that greenlet would start users again.
        while (at_s := time.monotonic() - began) < stages.lasts_s and not self.ending:
            if (users := stages.users_at(at_s)) != self.runner.target_user_count:
                # At a lower rate Locust would wait a second between users.
                self.runner.start(users, spawn_rate=stages.highest)
            gevent.sleep(min(_USERS_S, stages.lasts_s - at_s))

    def _end_used_up(self, timer: gevent.Greenlet) -> None:
        """End the test, as no user has data left."""
        recording = self._recording
        if self.ending or recording is None:
            return
        windows = recording.windows
        windows.used_up_s = after_s = windows.lasted_s
        measured = windows.measured
        lost = windows.lost_rows
        cause = "no row was left" if lost else "data used up"
        # A user with few rows may end before the other users have started.
        nothing = measured is None or not measured.merge_steps(recording.subject.counts).count
        if nothing and self._options.measure is not None:
            shorter = ", or warm up for less time (--warmup 0s)" if self._options.warmup else ""
            raise MeasurementFailed(
                f"{cause} after {after_s:.1f} s, before anything was measured",
                "find out why changes are not answered"
                if lost
                else f"give the file more rows{shorter}",
            )
        log.warning("%s after %.1f s", cause, after_s)
        timer.kill(block=False)
        self._over = True
        self.finish()
        gevent.spawn(self._end_test)

    def _measure_anew(self, load: LoadSource) -> None:
        load.await_users()
        self._enter(Phase.MEASURE, load)

    def _enter(self, phase: Phase, load: LoadSource) -> None:
        # A kill does not reach a timer that is due in the same turn of the event loop.
        if self.ending:
            raise gevent.GreenletExit
        load.enter_phase(phase)

    def discard(self) -> None:
        if self._load is not None and not self.ending:
            self._load.drain(shown=False)

    def report_failure(self, error: SitebenchError) -> None:
        self.environment.process_exit_code = error.exit_code
        # The end of the test comes first, as a run file that takes no more data may refuse this
        # record as well.
        gevent.spawn(self._end_test)
        self.suite_run.record_failure(error)

    def _end_test(self) -> None:
        options = self.environment.parsed_options
        if options is not None and options.headless:
            self.runner.quit()
        else:
            self.runner.stop()

    def stop(self) -> None:
        timer = None if self.ending else self._timer
        if timer is not None and timer is not gevent.getcurrent():
            timer.kill(block=False)
        self.finish()

    def finish(self) -> None:
        load, recording = self._load, self._recording
        if recording is None:
            return
        if load is None:
            # No lane could begin.
            recording.windows.close()
            return
        if self.ending:
            self._ended.wait()
            return
        self.ending = True
        concluding = (self._over or recording.until_stopped) and not self.failed
        try:
            if concluding and recording.windows.phase is Phase.MEASURE:
                load.enter_phase(Phase.AFTER)
                load.await_late(self._options.timeout)
                load.conclude()
            load.finish()
            if concluding:
                recording.finished(recording.windows)
        except CannotRecord as error:
            if self._over:
                raise
            log.error("%s", error)
        finally:
            recording.windows.close()
            self._ended.set()

    def nothing_done(self) -> SitebenchError | None:
        recording = self._recording
        if not self._begun:
            return None
        if recording is None:
            return MeasurementFailed(
                "the test ended without an operation: the target was still being prepared",
                "give the test more time: -t counts from the start",
            )
        tallies, counts = recording.windows.tallies.values(), recording.subject.counts
        operations = sum(tally.merge_steps(counts).count for tally in tallies)
        if not operations:
            return MeasurementFailed(
                "the test ended without an operation",
                "check that the target answers, and give the test more time",
            )
        users = self.runner.target_user_count
        if recording.windows.phase is Phase.RAMP and operations < users:
            return MeasurementFailed(
                f"the test ended before all of its {users:,} users had begun, after "
                f"{plural(operations, 'operation')}",
                "give the test more time: -t counts from the start",
            )
        return None

    def clean_up(self) -> None:
        self.suite_run.finish()


def _refuse_idle(lane_users: Iterable[type[Any]], users: Iterable[type[Any]]) -> None:
    """Raise if tags leave a lane class without a task.

    In such a test Locust's users would fail, while their lanes continue.
    """
    idle = [user.__name__ for user in lane_users if not user.tasks]
    if not idle:
        return
    remedy = "mark user classes with Locust's @tag"
    if busy := [user.__name__ for user in users if user.tasks]:
        remedy = f"name the other classes before --tags: {' '.join(busy)}"
    message = f"{', '.join(idle)} would have nothing to do, as its task has none of these tags"
    raise BadInput(message, remedy)
