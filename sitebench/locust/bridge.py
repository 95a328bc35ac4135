"""Locust as the cockpit of lanes that run elsewhere: natively, or as portable Python.

Twice a second a greenlet drains the lanes' recorders into Locust's statistics and into the windows
of the test; a Locust user is one lane; starting and stopping users starts and stops lanes, so
shapes, the class picker and the number of users mean what they always mean. A Local runner drains
the lanes of its own process (`alone`); a Master asks its workers (`workers.fleet`), and each
answers for its own lanes (`workers.member`). Each rule below was found by losing numbers without:

- The last batch. It is taken on `test_stopping`, before users are stopped and before Locust prints
  and decides its exit code: a Master's own `test_stop` fires before the last reports of its
  workers, and its `quit` waits only half a second. When Locust quits at once, on `quitting`.
- `--processes` forks after the locustfile is imported: threads and descriptors are made on
  `test_start`, never at import.
- `--reset-stats` (and the button) also discards what the recorders hold.
- Native threads count as CPU of this process: Locust's warning would fire without reason, so it
  is given the hub thread's own share.
- Ctrl-C interrupts Locust's main greenlet: in another it would lose what that one was doing.
- A blocking join would stop the hub, GIL released or not: it goes through the hub's thread pool.
"""

from __future__ import annotations

import errno
import logging
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

import gevent  # type: ignore[import-untyped]
import locust.runners
from gevent.event import Event  # type: ignore[import-untyped]
from gevent.lock import BoundedSemaphore  # type: ignore[import-untyped]
from locust.env import Environment
from locust.runners import (
    STATE_INIT,
    STATE_SPAWNING,
    LocalRunner,
    MasterRunner,
    Runner,
    WorkerRunner,
)

from sitebench.counts.worker_slot import Place
from sitebench.errors import CannotRecord, MeasurementFailed, OutOfDescriptors, SitebenchError
from sitebench.locust.alone import Alone
from sitebench.locust.lanes import Lane, Lanes
from sitebench.locust.preparing import Preparing
from sitebench.locust.stalls import Watch, no_files
from sitebench.locust.statistics import await_csv
from sitebench.locust.tags import refuse_idle
from sitebench.locust.workers import gathering, messages
from sitebench.locust.workers.master import Fleet
from sitebench.locust.workers.worker import (
    Crew,
    answer_ping,
    refuse_unknown,
    refuse_unreachable,
    tell_failure,
)
from sitebench.locust.workload import Recording, Workload
from sitebench.runs.windows import Phase, Windows
from sitebench.system.child import orphaned
from sitebench.system.machine import this_loopback

log = logging.getLogger("sitebench")

TICK_S = 0.5
SHARED = "sitebench_shared"
"""Name among the parsed options under which a Master hands its workers the prepared test."""


def _abandoned() -> MeasurementFailed:
    """Nobody waits for this point any more, and its load must not outlive its sweep."""
    return MeasurementFailed("the sweep that started this point is gone", "resume its run file")


class Bridge:
    """Joins one Locust environment and one workload."""

    def __init__(self, environment: Environment, workload: Workload) -> None:
        self.environment = environment
        self.lanes: Lanes | None = None
        self.recording: Recording | None = None
        self.workload = workload
        self.preparing: Preparing | None = None
        self._preparer: gevent.Greenlet | None = None
        self._load: Alone | Fleet | None = None
        self._crew: Crew | None = None
        self._prepared: dict[str, Any] = {}
        self._places: dict[str, int] | None = None
        self._ticker: gevent.Greenlet | None = None
        self._timer: gevent.Greenlet | None = None
        self._failed = self._concluded = False
        self._ending = False
        self._ended = Event()
        self._putting_back = BoundedSemaphore()
        self._watch = Watch()
        self._hub_cpu = (time.thread_time(), time.monotonic())
        environment.sitebench = self  # type: ignore[attr-defined]
        self._listen()
        # The imports of a locustfile take longer than a tick: without this, timers that Locust
        # starts next (--run-time is one) would count from before them, and fire early.
        gevent.get_hub().loop.update_now()

    @staticmethod
    def of(environment: Environment) -> Bridge:
        """Return the bridge of an environment."""
        found: Bridge = environment.sitebench  # type: ignore[attr-defined]
        return found

    @property
    def runner(self) -> Runner:
        """The environment's runner."""
        if self.environment.runner is None:
            raise RuntimeError("the bridge is used before Locust made its runner")
        return self.environment.runner

    @property
    def windows(self) -> Windows | None:
        """What the present test, or the last one, has recorded; a worker records nothing."""
        return None if self.recording is None else self.recording.windows

    @property
    def fleet(self) -> Fleet | None:
        """A master's workers in the present test, or the last one."""
        return self._load if isinstance(self._load, Fleet) else None

    def _listen(self) -> None:
        events: Any = self.environment.events
        events.test_start.add_listener(self._on_test_start)
        events.spawning_complete.add_listener(self._on_spawning_complete)
        events.test_stopping.add_listener(self._on_test_stopping)
        events.test_stop.add_listener(self._on_test_stop)
        events.quitting.add_listener(self._on_quitting)
        events.reset_stats.add_listener(lambda **_: self.discard())
        events.usage_monitor.add_listener(self._on_usage)
        gevent.signal_handler(signal.SIGINT, self._on_interrupt)
        runner = self.runner
        if isinstance(runner, MasterRunner):
            self._listen_to_workers(runner)
        if isinstance(runner, WorkerRunner):
            runner.register_message(messages.PING, lambda msg, **_: answer_ping(runner, msg.data))
            runner.register_message(messages.DRAIN, self._on_drain_asked)

    def _listen_to_workers(self, runner: MasterRunner) -> None:
        self.environment.dispatcher_class = gathering.dispatcher(self._placed)
        runner.register_message(messages.OPENED, self._hearing(Fleet.opened))
        runner.register_message(messages.PONG, self._hearing(Fleet.pong))
        runner.register_message(messages.REPORT, self._hearing(Fleet.report))
        runner.register_message(messages.FAILED, self._on_worker_failed)
        options = self.environment.parsed_options
        if options is not None and gathering.bounded(options):
            self._spawn(lambda: gathering.expect(runner, options))

    def _hearing(self, hear: Callable[[Fleet, str, Mapping[str, Any]], None]) -> Callable[..., Any]:
        """Return what hands a worker's message to the fleet, once there is one."""

        def listener(msg: Any, **_: Any) -> None:
            try:
                if (fleet := self.fleet) is not None:
                    hear(fleet, msg.node_id, msg.data)
            except SitebenchError as error:
                # Locust would log it and go on hearing.
                self.fail(error)

        return listener

    # Lanes, as users come and go.

    def start_lane(self, program: str) -> Lane | None:
        """Start one lane; returns it when it runs in Python."""
        try:
            return None if self.lanes is None or self._failed else self.lanes.start(program)
        except OutOfDescriptors:
            self.fail(no_files())
            return None

    def stop_lane(self, program: str) -> None:
        """Stop one lane; nothing to do when the session ended first."""
        if self.lanes is not None:
            self.lanes.stop_one(program)

    # How a test begins.

    def _on_test_start(self, **_: Any) -> None:
        try:
            self._begin()
        except SitebenchError as error:
            self.fail(error)
        except Exception as error:
            # Locust would log it and go on without a single lane.
            log.exception("the test could not begin")
            what = f"the test could not begin: {type(error).__name__}: {error}"
            self.fail(MeasurementFailed(what, "report this, with the traceback above"))

    def _begin(self) -> None:
        if self._ticker is not None:
            # Asleep since the test before, it would take this one for its own.
            self._ticker.kill(block=False)
        self._load, self._crew, self.lanes, self.recording = None, None, None, None
        self._failed, self._concluded, self._ending, self._ended = False, False, False, Event()
        self._watch = Watch()
        if orphaned():
            raise _abandoned()
        if isinstance(self.runner, WorkerRunner):
            self._join(self.runner)
            return
        refuse_idle(self.environment.user_classes)
        if isinstance(self.runner, MasterRunner):
            self._command(self.runner)
        else:
            self._prepared = self._prepare(1)
            self.recording = self.workload.record(self._prepared)
            lanes = self._open(Place())
            self._load = Alone(lanes, self.recording.windows, self._watch.look)
            self._ticker = self._spawn(self._tick)

    def _prepare(self, places: int) -> dict[str, Any]:
        """Have the target made ready; whoever looks at the web UI sees that, and may stop it."""
        if self.environment.web_ui is not None and isinstance(self.runner, LocalRunner):
            self.runner.update_state(STATE_SPAWNING)
        self.preparing, self._preparer = Preparing(), gevent.getcurrent()
        try:
            return self.workload.prepare(self.environment, places, self.preparing)
        except gevent.GreenletExit:
            # A Master without a test has no end of one that would do this.
            self.workload.finish()
            raise
        finally:
            self.preparing = self._preparer = None

    def _open(self, place: Place) -> Lanes:
        session = self.workload.open(self._prepared, place)
        # Each engine thread may use a core: only what the hub adds to that is worth a warning.
        locust.runners.CPU_WARNING_THRESHOLD = 90 + 100 * session.threads
        self.lanes = Lanes(self.environment, session)
        return self.lanes

    def _command(self, runner: MasterRunner) -> None:
        """Begin a test whose load others make."""
        self._places = places = gathering.places(runner)
        self._prepared = {
            **self._prepare(len(places)),
            "places": places,
            "loopback": this_loopback(),
            "user_classes": [each.__name__ for each in self.environment.user_classes],
        }
        if (options := self.environment.parsed_options) is not None:
            setattr(options, SHARED, self._prepared)
        self.recording = self.workload.record(self._prepared)
        self._load = fleet = Fleet(runner, places, self.recording.windows, self._watch.look)

        def gather_and_tick() -> None:
            fleet.gather()
            self._tick()

        self._ticker = self._spawn(gather_and_tick)

    def _placed(self, worker: str) -> bool:
        """Return whether a worker takes part in the present test, or may in the next."""
        return self._places is None or worker in self._places

    def _join(self, runner: WorkerRunner) -> None:
        """Take one's place in a master's test; whoever came after its start has none."""
        self._prepared = prepared = getattr(self.environment.parsed_options, SHARED)
        index = prepared["places"].get(runner.client_id)
        if index is None:
            return
        refuse_unreachable(prepared["url"], prepared["loopback"])
        available: Any = self.environment.available_user_classes
        if available:
            refuse_unknown(prepared["user_classes"], available)
            self.environment.user_classes = [available[n] for n in prepared["user_classes"]]
        lanes = self._open(Place(index, len(prepared["places"])))
        self._crew = Crew(runner, lanes)
        self._ticker = self._spawn(self._serve)

    # How it goes on.

    def _spawn(self, function: Callable[[], None]) -> gevent.Greenlet:
        """Start a greenlet without which the test cannot go on."""

        def told() -> None:
            try:
                function()
            except SitebenchError as error:
                self.fail(error)  # gevent itself would print a traceback.

        greenlet = gevent.spawn(told)
        greenlet.link_exception(self._on_crash)
        return greenlet

    def _on_crash(self, greenlet: gevent.Greenlet) -> None:
        error = greenlet.exception
        if isinstance(error, OSError) and error.errno == errno.EMFILE:
            error = no_files()
        if not isinstance(error, OutOfDescriptors):
            what = f"the measurement broke off: {type(error).__name__}: {error}"
            error = MeasurementFailed(what, "report this, with the traceback above")
        self.fail(error)

    def fail(self, error: SitebenchError) -> None:
        """End the test because it cannot go on; a worker leaves that to its master.

        What goes wrong after that goes wrong because of it.
        """
        if self._failed:
            return
        self._failed = True
        log.error("%s", error)
        if isinstance(self.runner, WorkerRunner):
            self.finish()
            tell_failure(self.runner, error)
            return
        self.environment.process_exit_code = error.exit_code
        # First: where the run file takes no more, it does not take this either.
        gevent.spawn(self._end_test)
        self.workload.failed(error)

    def _on_worker_failed(self, msg: Any, **_: Any) -> None:
        if (fleet := self.fleet) is not None:
            error = fleet.failed(msg.node_id, msg.data)
            if not self._ending:
                self.fail(error)

    def _end_test(self) -> None:
        options = self.environment.parsed_options
        if options is not None and options.headless:
            self.runner.quit()
        else:
            self.runner.stop()

    def _on_spawning_complete(self, **_: Any) -> None:
        if isinstance(self.runner, WorkerRunner):
            return
        if self.environment.reset_stats:
            self.discard()
        if self._ending:
            return  # The last of them came as the test was stopped.
        if self._timer is None:
            self._timer = self._spawn(self._time_windows)
        elif self._measuring and self._recorded_until_stopped:
            self._timer.kill(block=False)
            self._timer = self._spawn(self._measure_anew)

    def _measure_anew(self) -> None:
        """The number of users was changed: what they do from now on is what is measured."""
        if self._load is not None:
            self._load.await_users()
            self._go_on_to(self._load, Phase.MEASURE)

    @property
    def _measuring(self) -> bool:
        return self.windows is not None and self.windows.phase is Phase.MEASURE

    @property
    def _recorded_until_stopped(self) -> bool:
        return self.recording is not None and self.recording.until_stopped

    def _time_windows(self) -> None:
        """Walk through the phases; a test without a measured length lasts until it is stopped."""
        load, recording = self._load, self.recording
        if load is None or recording is None:
            return
        load.await_users()
        warmup_s, measure_s = self._prepared["warmup_s"], self._prepared["measure_s"]
        if warmup_s > 0:
            self._go_on_to(load, Phase.WARMUP)
            gevent.sleep(warmup_s)
        self._go_on_to(load, Phase.MEASURE)
        if measure_s is None:
            return
        gevent.sleep(measure_s)
        self._go_on_to(load, Phase.AFTER)
        load.conclude()
        self._concluded = True
        recording.finished(recording.windows)
        gevent.spawn(self._end_test)

    def _go_on_to(self, load: Alone | Fleet, phase: Phase) -> None:
        """Begin a phase; a timer that wakes while its test is being stopped ends instead."""
        if self._ending:
            raise gevent.GreenletExit
        load.cross(phase)

    def _tick(self) -> None:
        while self._load is not None and not self._ending:
            if orphaned():
                raise _abandoned()
            self._load.drain()
            gevent.sleep(TICK_S)

    def _serve(self) -> None:
        """Look, in a worker, whether there is still somebody to work for."""
        while self._crew is not None and not self._ending:
            if orphaned() or self._crew.abandoned:
                log.error("the master is gone")
                self.finish()
                self.runner.quit()
            gevent.sleep(TICK_S)

    def _on_drain_asked(self, msg: Any, **_: Any) -> None:
        crew = self._crew
        if crew is None or self._ending:
            return
        if not msg.data["last"]:
            crew.asked(msg.data)
            return
        self._ending = True
        gevent.spawn(crew.leave, msg.data).link(lambda _: self._ended.set())

    def discard(self) -> None:
        """Forget for Locust's screens what the recorders hold; the run file keeps it."""
        if self._load is not None and not self._ending:
            self._load.discard()

    # How it ends.

    def finish(self) -> None:
        """Have the lanes stopped and their last batch taken; later callers wait for the first."""
        if self._load is None and self._crew is None:
            if self.recording is not None:
                # No lane could begin.
                self.recording.windows.close()
            return
        if self._ending:
            self._ended.wait()
            return
        self._ending = True
        concluding = self._recorded_until_stopped and not self._concluded and not self._failed
        try:
            if concluding and self._load is not None and self._measuring:
                self._load.cross(Phase.AFTER)
                self._load.conclude()
            if self._crew is not None:
                self._crew.leave()
            if self._load is not None:
                self._load.finish()
            if concluding and self.recording is not None:
                self.recording.finished(self.recording.windows)
        except CannotRecord as error:
            log.error("%s", error)
        finally:
            if self.recording is not None:
                self.recording.windows.close()
            self._places = None
            self._ended.set()

    def _on_test_stopping(self, **_: Any) -> None:
        timer, self._timer = self._timer, None
        if timer is not None and timer is not gevent.getcurrent():
            timer.kill(block=False)
        self.finish()

    def _on_test_stop(self, **_: Any) -> None:
        if isinstance(self.runner, WorkerRunner):
            return
        try:
            # Whoever quits meanwhile, at Ctrl-C too, waits until everything is put back.
            with self._putting_back:
                self.workload.finish()
        except SitebenchError as error:
            # Locust would log where it was raised, and not what to do.
            log.error("%s", error)

    def _on_quitting(self, **_: Any) -> None:
        """Take the last batch before Locust decides its exit code: it does so before it stops."""
        if self._preparer is not None and self._preparer is not gevent.getcurrent():
            # What is being added must be there, or not, before it is removed.
            self._preparer.kill()
        self._on_test_stopping()
        self._on_test_stop()
        await_csv(self.environment.parsed_options)

    def _on_interrupt(self) -> None:
        """Interrupt Locust's main greenlet, and no other.

        Python would interrupt whichever runs: the one that hears the workers, or writes a row.
        The last batch comes first: Locust writes its HTML report before it tells of its end.
        """
        if isinstance(self.runner, MasterRunner) and self.runner.state == STATE_INIT:
            # Locust would leave those who wait for a test to wait on.
            self.runner.quit()
        hub = gevent.get_hub()
        try:
            if not self._ending:
                self._on_test_stopping()
        finally:
            hub.loop.run_callback(hub.parent.throw, KeyboardInterrupt)

    def _on_usage(self, **_: Any) -> None:
        """Give Locust the share of the one thread that could make its own figures late."""
        cpu, now = time.thread_time(), time.monotonic()
        share = (cpu - self._hub_cpu[0]) / max(now - self._hub_cpu[1], 1e-9) * 100.0
        self._hub_cpu = (cpu, now)
        self.runner.current_cpu_usage = share
        if share > 90 and self.lanes is not None and not self.lanes.portable:
            log.warning("Locust's own thread used %.0f %% of a core: its screens may lag", share)
