"""A suite's part of a Locust test: its target, its lanes, and the clean-up.

`BaseSuiteRun` is common to suites; a suite adds its target, its programs and lanes in Python.
"""

from __future__ import annotations

import contextlib
import logging
from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar, cast

from locust import events
from locust.env import Environment
from locust.runners import WorkerRunner

from sitebench._engine import Engine, PortableUsers
from sitebench.counts.source import Source
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, SitebenchError, exit_with
from sitebench.locust.bridge import Bridge
from sitebench.locust.lanes import Lanes
from sitebench.locust.portable import PortableLane
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Observed, PointRecorder, Recording, Subject, command_options
from sitebench.locust.user import LaneUser, runs_unnamed
from sitebench.locust.web_ui.session import Session, open_session
from sitebench.locust.workers.choice import of_this_worker
from sitebench.measure.options import LoadOptions, staged
from sitebench.measure.point_process import Request
from sitebench.measure.test import Test
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.reached import listener
from sitebench.options import convert
from sitebench.runs.windows import Windows
from sitebench.scenario.script import Script
from sitebench.suite_base.options import SuiteOptions
from sitebench.suite_base.points import Load, SuitePoints, untold
from sitebench.suite_base.scenario_user import ScenarioUser
from sitebench.suite_base.scripts import assure_planned, assure_same, digests_of, text_of
from sitebench.system.machine import engine_threads
from sitebench.system.native_errors import translated
from sitebench.system.texts import receive
from sitebench.targets.open_target import OpenTarget
from sitebench.units import format_size

log = logging.getLogger("sitebench")


class _PortableSource(Source, Protocol):
    def lane(self, program: str) -> PortableLane: ...


_L = TypeVar("_L", bound=LoadOptions)
_O = TypeVar("_O", bound=SuiteOptions)
_P = TypeVar("_P", bound=Script)
_T = TypeVar("_T", bound=OpenTarget[Any])


class BaseSuiteRun(ABC, Generic[_O, _P, _T]):
    """Opens the target in the commanding process, and lanes in processes that make load."""

    points: SuitePoints[Any, _P, _T]

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.request: Request | None = getattr(environment, "sitebench_request", None)
        """The point that this process measures, if it measures one."""
        self.after = contextlib.ExitStack()
        """What is closed when the test is over."""
        self.session = open_session(environment)
        self.programs: Sequence[_P] = ()
        """Programs of the present test's user classes; their files are read once."""
        self._exporter: str | None = self.options().monitor
        self._recorder: PointRecorder | Session | None = self.session
        if self.request is not None:
            self._recorder = recorder = PointRecorder(self.request)
            events: Any = environment.events
            events.quit.add_listener(lambda **_: recorder.close())
            if (text := self.request.test.scenario) is not None:
                receive(*text)

    # Methods that a suite implements.

    def make_data(self, options: _O, programs: Sequence[_P], preparing: Preparing) -> None:
        """Make the files of a target that is opened afterwards, and show the progress."""

    def portable(self, load: Load[_O, _P, _T], users: PortableUsers) -> _PortableSource:
        """Return lanes in Python, for a suite with the option --client."""
        raise NotImplementedError

    def first_added(
        self, options: _O, target: _T, processes: int, preparing: Preparing
    ) -> Sequence[int]:
        """Seed people; return the first person that each process with load may add."""
        return ()

    def digests(self, options: _O, programs: Sequence[_P]) -> dict[str, str]:
        """Return digests of the user's files, of which each process reads its own copy."""
        return digests_of(programs)

    def observe(self, target: _T, programs: Sequence[_P]) -> Observed:
        return Observed(warnings=lambda spec, figures: target.warnings())

    def counted_steps(self, program: _P) -> Sequence[tuple[str, str]]:
        """Return the rows (program, step) that count as operations."""
        return program.counted_rows

    # Methods that all suites share.

    @property
    def point(self) -> str | None:
        """The key of the measured point; None for a test that a user controls."""
        return None if self.request is None else self.request.test.spec.key

    def options(self) -> Any:
        if self.request is not None:
            return self.request.test.options
        parsed, options = self.environment.parsed_options, self.points.locust_options
        if parsed is None:
            return options()
        return self.points.apply_address(convert.from_namespace(options, parsed))

    def lane_classes(self, users: Iterable[type[Any]]) -> list[type[Any]]:
        """Return the user classes that are lanes; Locust itself runs other classes."""
        return [user for user in users if issubclass(user, LaneUser)]

    def _read_programs(self, options: _O, users: Sequence[type[Any]]) -> list[_P]:
        programs: dict[str, _P] = {}
        for user in self.lane_classes(users):
            program = self.points.script_of(user.build(options).thinking(options.think), options)
            if programs.setdefault(program.name, program) != program:
                raise BadInput(
                    f"two user classes have different {self.points.word}s named {program.name!r}",
                    f"give each {self.points.word} a name of its own",
                )
        return list(programs.values())

    def check(self, options: _O, users: Sequence[type[Any]]) -> None:
        """Raise for errors in options, or if a target of the user's does not answer."""
        options = _with_stages(options)
        programs = self._read_programs(options, users)
        if not programs:
            return
        self.points.check(options, programs)
        if options.target not in self.points.targets.built_in:
            self.points.targets.address(options, programs)

    def prepare(self, environment: Environment, processes: int, preparing: Preparing) -> Test:
        options = self.options() if self.request is not None else _with_stages(self.options())
        host = getattr(self.environment.parsed_options, "host", None)
        if host and host.rstrip("/") != options.target.rstrip("/"):
            # Users of Locust often set --host; the web page sets it to the target.
            log.warning(
                "The target is %s (--target); --host is for other users of Locust", options.target
            )
        preparing.title = options.target
        self.programs = programs = self._read_programs(options, self.environment.user_classes)
        if self.request is None:
            _say_what_is_left_out(self.lane_classes(self.environment.user_classes), programs)
        if people := self.points.people(options, programs):
            preparing.title += f" with {format_size(people)} people"
        target: Any
        if self.request is not None:
            planned = self.request.test
            assure_planned(planned.spec.settings, options.scenario_path, programs)
            target = planned.target
        elif options.target in self.points.targets.built_in:
            self.make_data(options, programs, preparing)
            target = self.after.enter_context(self.points.targets.open(options, programs, untold))
        else:
            self.points.assure_allowed(options, programs, self.points.word, named=self._is_chosen)
            target = self.points.targets.address(options, programs)
        data = self.digests(options, programs)
        first_added = self.first_added(options, target, processes, preparing)
        if self.request is not None:
            return replace(self.request.test, data=data, first_added=first_added)
        now = command_options(self.points.options, options, self.environment)
        return Test(
            spec=self.points.point(now, "+".join(program.name for program in programs), programs),
            options=options,
            user_classes=tuple(user.__name__ for user in self.environment.user_classes),
            scenario=text_of(options.scenario_path, programs),
            data=data,
            opened=target,
            first_added=first_added,
        )

    @property
    def _is_chosen(self) -> bool:
        """Whether the user chose classes, so that some classes of the file do not run."""
        classes, available = self.environment.user_classes, self.environment.available_user_classes
        unnamed = [user for user in (available or {}).values() if runs_unnamed(user)] or classes
        return len(classes) == 1 or {*classes} != {*unnamed}

    def read_test(self, data: dict[str, Any]) -> Test:
        return Test.read(data, self.points.options, self.points.targets.kind)

    def record(self, test: Test) -> Recording:
        target: Any
        options, target, programs = test.options, test.target, self.programs
        host, port = target.address.host, target.address.port
        subject = Subject(
            spec=test.spec,
            facts=lambda sizes: self.points.facts(options, sizes),
            pid=target.pid or listener(host, port),
            cores=target.cores,
            address=(host, port),
            counts=[pair for program in programs for pair in self.counted_steps(program)],
            native=options.client == "native",
            check=target.check,
            target={"name": target.name, **target.facts},
            pools=[pool for program in programs for pool in program.pools],
            observed=self.observe(target, programs),
        )
        if self._recorder is None:
            # A test in memory uses no exporter and no probe.
            return Recording(subject, Windows(Monitor(subject.pid)), lambda windows: None)
        return self._recorder.recording(subject, self._exporter)

    def open(self, test: Test, slot: WorkerSlot) -> Lanes:
        options = cast("_O", of_this_worker(test.options))
        if isinstance(self.environment.runner, WorkerRunner):
            if test.scenario:
                receive(*test.scenario)
            self.programs = self._read_programs(options, self.environment.user_classes)
        assure_same(self.digests(options, self.programs), test.data)
        first_added = test.first_added[slot.index] if test.first_added else 0
        target, client = cast("_T", test.target), options.client
        load = Load(options, target, self.programs, slot, first_added)
        tables = {
            name: table for program in self.programs for name, table in program.own_tables.items()
        }
        with translated():
            for_engine = self.points.for_engine(load)
            if client == "native":
                engine = Engine(*for_engine, tables=tables)
                threads = engine_threads(options.threads)
                return Lanes(self.environment, engine, threads=threads, client=client)
            source = self.portable(load, PortableUsers(*for_engine, tables=tables))
        return Lanes(self.environment, source, threads=0, client=client, python_lane=source.lane)

    def record_failure(self, error: SitebenchError) -> None:
        if self._recorder is not None:
            self._recorder.record_failure(error)

    def finish(self) -> None:
        """Stop all that was started for this test; a second call does nothing."""
        self.after.close()


def _with_stages(options: _L) -> _L:
    """Return options with the load of their stages, if any."""
    # The user can have changed these options on the web page, so what is set is decided again.
    load = {"measure": options.measure is not None, "warmup": options.warmup > 0, "users": False}
    now = {name for name, is_set in load.items() if is_set}
    return staged(replace(options, explicit=options.explicit - load.keys() | now))


def _say_what_is_left_out(users: Iterable[type[Any]], programs: Iterable[Script]) -> None:
    """Warn that Locust ignores the [load] of files, because its own options set the load."""
    if not any(issubclass(user, ScenarioUser) for user in users):
        return
    for program in programs:
        if ignored_keys := sorted({*program.load} - {"base"}):
            log.warning(
                "%s: its [load] is left out (%s): Locust's options say the load, such as -u",
                program.path,
                ", ".join(ignored_keys),
            )


def join(title: str, suite_run: type[BaseSuiteRun[Any, Any, Any]]) -> None:
    """Add the options of a suite to Locust, under `title`, and its lanes to each environment."""

    def add(parser: Any, **_: Any) -> None:
        convert.add_arguments(parser, suite_run.points.locust_options, title)
        convert.set_locust_defaults(parser)

    def begin(environment: Any, **_: Any) -> None:
        try:
            run = suite_run(environment)
            bridge = Bridge(environment, run)
            if environment.web_ui is not None:
                # Imported late: the import takes 0.1 s, and points do not need the web page.
                from sitebench.locust.web_ui.setup import set_up_web_ui

                set_up_web_ui(bridge, run.session, suite_run.points.locust_options)
        except SitebenchError as error:
            exit_with(error)

    # Locust's hooks are untyped.
    hooks: Any = events
    hooks.init_command_line_parser.add_listener(add)
    hooks.init.add_listener(begin)
