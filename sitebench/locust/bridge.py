"""Connects Locust with lanes that run natively, or in portable Python.

Twice a second a greenlet drains the lanes' recorders into Locust's statistics and into the windows
of the test. A Locust user is one lane, so load shapes, the class picker and the number of users
keep their meaning. In a test, a process has the role of `role_local`, `workers.master` or
`workers.worker`. This module passes Locust's events to the role. It keeps four rules; without them,
counts were lost:

- The last counts are taken on `test_stopping`, before users are stopped, and before Locust prints
  and decides its exit code. A master fires `test_stop` before the last reports of its workers, and
  its `quit` waits only half a second for them. If Locust quits at once, the last counts are taken
  on `quitting`.
- `--processes` forks after the import of the locustfile, so threads and descriptors are made on
  `test_start`, never at import.
- Ctrl-C interrupts Locust's main greenlet. By default it would interrupt the running greenlet, and
  the work of that greenlet would be lost.
- A blocking join would stop the hub, even if it released the GIL. So every such join runs in the
  hub's thread pool.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from typing import Any

import gevent  # type: ignore[import-untyped]
from gevent.lock import BoundedSemaphore  # type: ignore[import-untyped]
from locust.env import Environment
from locust.runners import STATE_INIT, MasterRunner, WorkerRunner

from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.locust.role import Role, raise_if_orphaned
from sitebench.locust.role_local import LocalRole
from sitebench.locust.statistics import await_csv, leave_json_to_master
from sitebench.locust.suite_run import SuiteRun
from sitebench.locust.workers import gathering
from sitebench.locust.workers.master import MasterRole
from sitebench.locust.workers.worker import WorkerRole
from sitebench.system.interrupt import ending, hang_up

log = logging.getLogger("sitebench")


def _leave_out_idle(environment: Environment, suite_run: SuiteRun) -> None:
    """Drop a locustfile's lane classes if tags select only tasks of its other classes."""
    users = environment.user_classes
    lane_users = suite_run.lane_classes(users)
    other_users = [user for user in users if user not in lane_users]
    if not (lane_users and other_users):
        return
    environment._filter_tasks_by_tags()  # Locust itself filters when a test begins.
    if not any(user.tasks for user in lane_users) and any(user.tasks for user in other_users):
        environment.user_classes = other_users


def _end_without_terminal() -> None:
    hang_up(signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)


class Bridge:
    """Passes the events of one Locust environment to this process's role in the present test."""

    def __init__(self, environment: Environment, suite_run: SuiteRun) -> None:
        if environment.runner is None:
            raise RuntimeError("the bridge is made before Locust made its runner")
        self.environment = environment
        self.runner = runner = environment.runner
        self.suite_run = suite_run
        self._kind: type[Role] = LocalRole
        if isinstance(runner, MasterRunner):
            self._kind = MasterRole
        elif isinstance(runner, WorkerRunner):
            self._kind = WorkerRole
            leave_json_to_master(environment.parsed_options)
        self.role: Role = self._kind(environment, runner, suite_run)
        """The role in the present or last test; before the first test, a role without a test."""
        self._finishing = BoundedSemaphore()
        self._interrupted = False
        self._hub_cpu = (time.thread_time(), time.monotonic())
        environment.sitebench = self  # type: ignore[attr-defined]
        _leave_out_idle(environment, suite_run)

        events: Any = environment.events
        events.test_start.add_listener(self._on_test_start)
        events.spawning_complete.add_listener(lambda **_: self.role.users_spawned())
        events.test_stopping.add_listener(lambda **_: self.role.stop())
        events.test_stop.add_listener(self._on_test_stop)
        events.quitting.add_listener(self._on_quitting)
        events.reset_stats.add_listener(lambda **_: self.role.discard())
        events.usage_monitor.add_listener(self._on_usage)
        self._signals = [gevent.signal_handler(signal.SIGINT, self.interrupt)]
        if signal.SIGHUP in ending():
            self._signals.append(gevent.signal_handler(signal.SIGHUP, _end_without_terminal))
        for message in self._kind.RECEIVES:
            runner.register_message(message, self._on_message)
        if isinstance(runner, MasterRunner):
            environment.dispatcher_class = gathering.dispatcher(self._uses)
            self._quit, runner.quit = runner.quit, self._on_quit  # type: ignore[method-assign]
        # The imports of a locustfile take longer than a tick. Without this call, the next timers of
        # Locust (such as --run-time) would count from before the imports, and fire early.
        gevent.get_hub().loop.update_now()

    @staticmethod
    def of(environment: Environment) -> Bridge:
        bridge: Bridge = environment.sitebench  # type: ignore[attr-defined]
        return bridge

    def release_signals(self) -> None:
        for handler in self._signals:
            handler.cancel()

    def _uses(self, worker: str) -> bool:
        return self.role.uses(worker)

    def _on_message(self, msg: Any, **_: Any) -> None:
        try:
            self.role.receive(msg.type, msg.node_id, msg.data)
        except SitebenchError as error:
            # Locust would log the error and go on.
            self.role.fail(error)

    def _on_test_start(self, **_: Any) -> None:
        self.role = self._kind(self.environment, self.runner, self.suite_run)
        try:
            raise_if_orphaned()
            self.role.begin()
        except SitebenchError as error:
            self.role.fail(error)
        except Exception as error:
            # Locust would log the error and go on without a single lane.
            log.exception("the test could not begin")
            message = f"the test could not begin: {type(error).__name__}: {error}"
            self.role.fail(MeasurementFailed(message, "report this, with the traceback above"))

    def _on_test_stop(self, **_: Any) -> None:
        try:
            # If Locust quits during this clean-up (Ctrl-C), the quit waits for the clean-up.
            with self._finishing:
                self.role.clean_up()
        except SitebenchError as error:
            # Locust would log the place of the error, but not its remedy.
            log.error("%s", error)

    def _on_quitting(self, **_: Any) -> None:
        """Take the last counts before Locust decides its exit code."""
        self.role.stop_preparing()
        self.role.stop()
        self._on_test_stop()
        self._refuse_nothing()
        await_csv(self.environment.parsed_options)

    def _refuse_nothing(self) -> None:
        """Fail if a headless test outside of sweeps did nothing: Locust would exit with 0."""
        environment, parsed = self.environment, self.environment.parsed_options
        if parsed is None or not parsed.headless or self.suite_run.point is not None:
            return
        if self._interrupted or environment.process_exit_code is not None:
            return
        if (error := self.role.nothing_done()) is not None:
            log.error("%s", error)
            environment.process_exit_code = error.exit_code

    def interrupt(self) -> None:
        """Take the last counts, then interrupt Locust's main greenlet, not the running one.

        Counts that are taken on `quitting` would come after Locust's HTML report.
        """
        self._interrupted, hub = True, gevent.get_hub()
        if isinstance(self.runner, MasterRunner) and self.runner.state == STATE_INIT:
            # Without this call, Locust would not end workers that wait for a test.
            self.runner.quit()
        try:
            if not self.role.ending:
                self.role.stop()
        finally:
            hub.loop.run_callback(hub.parent.throw, KeyboardInterrupt)

    def _on_quit(self) -> None:
        """Stop a master's preparations before Locust quits: a test would begin without workers."""
        self.role.stop_preparing()
        self._quit()

    def _on_usage(self, **_: Any) -> None:
        """Report the CPU of the hub's thread alone: only it can delay Locust's own figures."""
        cpu, now = time.thread_time(), time.monotonic()
        share = (cpu - self._hub_cpu[0]) / max(now - self._hub_cpu[1], 1e-9) * 100.0
        self._hub_cpu = (cpu, now)
        self.runner.current_cpu_usage = share
        lanes = self.role.lanes
        if share > 90 and lanes is not None and not lanes.portable:
            log.warning("Locust's own thread used %.0f %% of a core: its screens may lag", share)
