"""Points of a suite: their programs, their target and their test.

Commands, Locust runs and the Python API use `SuitePoints`; the `points.py` of a suite fills in its
programs and targets.
"""

from __future__ import annotations

import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, NoReturn, TypeVar, cast

import msgspec

from sitebench._engine import Engine, Population, Table, Visitors
from sitebench.counts import fail_log
from sitebench.counts.fail_log import MOST
from sitebench.counts.stages import Stages
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, UnknownValue
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.measure.objective import Objective
from sitebench.measure.options import MeasureOptions, PeakOptions, RepeatOptions, check_pace, staged
from sitebench.measure.sweep import Stage
from sitebench.measure.test import OWN_USER, Test
from sitebench.options import convert, option
from sitebench.options.option import combine, group_of
from sitebench.options.spelling import nearest
from sitebench.runs import identity
from sitebench.runs.point import PointSpec, is_name
from sitebench.scenario import checking, script
from sitebench.scenario.script import ScenarioFile, Script
from sitebench.suite import Suite, suites_for
from sitebench.suite_base.options import Part, SuiteOptions
from sitebench.suite_base.scripts import objective_of, say_kept, scenarios_of, settings_of, text_of
from sitebench.system.machine import engine_threads
from sitebench.system.native_errors import translated
from sitebench.targets import ownership
from sitebench.targets.in_process import opened_here
from sitebench.targets.open_target import OpenTarget, ServerAddress
from sitebench.units import plural

Progress = Callable[[int, int], object]
"""Called with the completed and the total amount of work."""

ForEngine = tuple[str, Population | Visitors | None, tuple[Table, int] | None]
"""Input of the engine: a configuration, people, and a column of names."""

_OF_STAGES = frozenset(("stages", "rate", "warmup", "measure"))
"""Keys of [load] that --stages replaces."""


def untold(done: int, total: int) -> None:
    """Ignore the progress."""


_O = TypeVar("_O", bound=SuiteOptions)
_P = TypeVar("_P", bound=Script)
_T = TypeVar("_T", bound=OpenTarget[Any])


class Load(msgspec.Struct, Generic[_O, _P, _T], frozen=True):
    """The part of a test's load that one process makes."""

    options: _O
    target: _T
    programs: Sequence[_P]
    slot: WorkerSlot = WorkerSlot()
    first_added: int = 0
    """First person that the process may add."""


_TRIED = 1_000
"""The most requests of an operation that `--check` shows."""


def write_config(
    load: Load[Any, Any, Any],
    target: Mapping[str, Any],
    adds: Mapping[str, int],
    scenarios: Sequence[Mapping[str, Any]],
) -> str:
    """Return the configuration of an engine; engines of workers differ by slot and `adds`.

    `target` has the settings of the suite's protocol, `adds` the people that this engine may add.
    """
    options, slot, address = load.options, load.slot, load.target.address
    schedule: dict[str, Any] = {"kind": "closed"}
    if (stages := options.stages) is not None:
        schedule = {"kind": "crowd", "span_ms": round(stages.span_s * 1e3)}
        if not stages.of_users:
            schedule |= {
                "kind": "staged",
                "stages": [
                    {"lasts_s": stage.lasts_s, "rate": slot.rate(stage.level)}
                    for stage in stages.stages
                ],
                "arrivals": options.arrivals,
            }
    elif options.rate is not None:
        rate = slot.rate(options.rate)
        schedule = {"kind": "open", "rate": rate, "arrivals": options.arrivals}
    config: dict[str, Any] = {
        "threads": engine_threads(options.threads),
        "target": {
            "host": address.host,
            "port": address.port,
            # Every source address on loopback has its own ephemeral ports.
            "spread_sources": address.host.startswith("127."),
            **target,
        },
        "verify": options.verify,
        "timeout_ms": round(options.timeout * 1e3),
        "schedule": schedule,
        "keys": {"choice": options.keys, "seed": options.seed, "engine": slot.index},
        "adds": dict(adds),
        "scenarios": list(scenarios),
        # Failed requests are logged, or with --check all requests.
        "log": {"most": _TRIED, "all": True}
        if options.check
        else {"most": MOST if options.fail_log else 0},
    }
    return json.dumps(config)


class Targets(msgspec.Struct, Generic[_O, _P, _T], frozen=True, kw_only=True):
    built_in: Collection[str]
    """Names of targets that are started for a test."""
    kind: type[_T]
    parse: Callable[[str], ServerAddress]
    address: Callable[[_O, Sequence[_P]], _T]
    """Returns a target of the user's after a probe."""
    open: Callable[[_O, Sequence[_P], Progress], AbstractContextManager[_T]]
    """Opens the target and makes it ready for programs; restores it afterwards."""
    in_process: Callable[[Any, int | None, dict[str, Any]], _O]
    """Returns the options of a test at a server in this process, given its number of people and
    common options."""
    folder: Callable[[_O], Path | None]
    """Returns the folder that a target started here uses, if any."""


class SuitePoints(ABC, Generic[_O, _P, _T]):
    """The programs and targets of a suite, and the points made of both."""

    suite: ClassVar[Suite]
    options: ClassVar[type[Any]]
    """Options of a point."""
    session_options: ClassVar[type[Any]] = SessionOptions
    """Further options of the suite's locustfile."""
    targets: ClassVar[Targets[Any, Any, Any]]
    word: ClassVar[str] = "scenario"
    """The word for a program in messages, and the setting of a user-defined program."""
    left_for_last: ClassVar[Sequence[str]] = ()
    """Operations measured last, because they change the target."""

    @property
    def locust_options(self) -> type[Any]:
        return combine(self.session_options, self.options)

    # Methods that a suite implements.

    @abstractmethod
    def built_in(self, options: _O, operation: str) -> _P:
        """Return the program of an operation of the suite."""

    @abstractmethod
    def for_engine(self, load: Load[_O, _P, _T]) -> ForEngine:
        """Return the input of the engine for a load, without the data of scenarios."""

    def script_of(self, program: Any, options: _O) -> _P:
        script: _P = program
        return script

    def population(self, options: _O, size: int) -> Mapping[str, Any] | None:
        """Return facts about the people for the run file; None without people."""
        return None

    def described_by(self, options: _O) -> tuple[str, str] | None:
        """Return the operation that an option defines, and the option; None without such an option.

        Options can come from Locust, where unset options are empty texts.
        """
        if not options.scenario:
            return None
        return script.name_of(options.scenario), "the scenario file"

    def scenario_of(self, options: _O) -> Script | None:
        """Return the scenario file of options; raise for its errors."""
        return None if options.scenario is None else script.read(options.scenario, options.data)

    def people(self, options: _O, programs: Sequence[_P]) -> int:
        """Return the number of people of a test; 0 if no program needs people."""
        is_built_in = options.target in self.targets.built_in
        return options.people if is_built_in or any(map(self.needs_people, programs)) else 0

    def needs_people(self, program: _P) -> bool:
        """Return whether a program needs people in the user's target."""
        return program.needs_people

    def check(self, options: _O, programs: Sequence[_P]) -> None:
        """Raise for errors in options that can be detected before the start."""
        if (described := self.described_by(options)) is not None:
            self.program(options, described[0])
        if options.client != "native" and options.rate is not None:
            raise BadInput(
                f"--client {options.client} has no --rate",
                "leave --client out: the native client has them",
            )
        for program in programs:
            able = suites_for(program.protocol, program.verbs)
            if self.suite not in able:
                raise BadInput(
                    f"{program.path} is for no {self.suite.title.lower()}",
                    f"measure it with `sitebench {able[0].first_name} run`",
                )
            for name, rows in program.per_user.items():
                if rows < options.users:
                    raise BadInput(
                        f"{program.path}: each user keeps a row of {name}, which has {rows:,}, and "
                        f"there are {options.users:,} users",
                        f"give --users {rows}, or more rows",
                    )

    def notes(self, factor: str) -> Sequence[str]:
        """Return findings of the papers on a factor."""
        return ()

    def apply_address(self, options: _O) -> _O:
        """Return options completed by the address of the target."""
        return options

    def complete(self, options: _O, file: Script | None) -> _O:
        """Return options completed from other options and a scenario file."""
        return options

    def _owns_target(self, options: _O) -> bool:
        """Return whether the user permits changes of the target; else a test is refused later."""
        if options.target in self.targets.built_in:
            return False
        address, owned = self.targets.parse(options.target), options.i_own_this_target
        return ownership.owns(address.host, address.port, owned=owned, named=False)

    def check_several(self, options: _O) -> None:
        """Raise if these options allow no more than a single point."""

    def apply_scenario(self, options: _O) -> _O:
        """Return options with the load of the scenario file, unless the command line sets it.

        Announce environment variables that the file, possibly a stranger's, sends.
        """
        from sitebench.measure.command import say

        options = self.apply_address(options)
        if options.fail_log is not None:
            if options.check:
                raise BadInput("--check shows every failure itself", "leave --fail-log out")
            repeats = group_of(options, RepeatOptions)
            fail_log.begin(options.fail_log, None if repeats is None else repeats.out)
        file = self.scenario_of(options)
        if file is None:
            if options.data:
                raise BadInput(
                    "--data replaces files of a scenario file, and none is named", "leave it out"
                )
            return self.complete(staged(options), None)
        if names := file.secrets:
            variables = ", ".join(f"${name}" for name in names)
            say(f"{file.path} sends {variables} of this environment to {options.target}")
        if file.overwrites and self._owns_target(options) and not options.check:
            rows = file.changed_rows
            many = f"up to {plural(rows, 'entry', 'entries')}" if rows else "entries"
            say(f"{file.path} changes {many} of {options.target}; nothing changes them back")
        load = _load_of(file, options)
        text, peak = load.pop("objective", None), isinstance(options, PeakOptions)
        # An objective in the file does not replace loads on the command line.
        judged = group_of(options, MeasureOptions) or group_of(options, PeakOptions)
        clients = peak and options.is_set("clients")
        if clients:
            load.pop("users", None)
        if judged is not None and (judged.objective or not clients):
            objective = judged.objective or (Objective.parse(text) if text else None)
            load["objective"] = objective_of(file, objective)
            if peak and load["objective"]:
                load.pop("clients", None)
        return self.complete(staged(replace(options, **load)), file)

    def settle(self, options: _O, programs: Sequence[_P], *, named: bool = True) -> _O:
        """Return options completed by a probe of the target."""
        return options

    def choose(self, options: _O, text: str) -> tuple[_O, str]:
        """Return the operation of a command, and options with its scenario file."""
        described = self.described_by(options)
        if script.is_script(text):
            if described is not None and options.scenario != text:
                raise BadInput(
                    f"{text} and {described[1]} both describe the operations of users",
                    "leave one of them out",
                )
            file = options.scenario or ScenarioFile(text)
            return replace(options, scenario=file), script.name_of(text)
        if text not in self.suite.operations and (described is None or text != described[0]):
            self._refuse(options, text)
        return options, text

    def _refuse(self, options: _O, text: str) -> NoReturn:
        operations = ", ".join(self.suite.operations)
        if "://" in text:
            raise UnknownValue(f"{text!r} is an address", f"give it with --target {text}")
        if options.scenario_path is not None:
            raise UnknownValue(
                f"unknown operation {text!r}",
                "leave the operation out: the whole file is measured, and the report has each "
                "operation",
            )
        if "," in text:
            raise UnknownValue(f"{text!r} is not one operation", f"use one of {operations}")
        near = nearest(text, self.suite.operations)
        suggestion = "" if near is None else f"did you mean {near}? "
        remedy = f"{suggestion}use one of {operations}; or name a scenario file"
        raise UnknownValue(f"unknown operation {text!r}", remedy)

    def try_once(self, options: _O, operation: str) -> None:
        """Run an operation once, and print the answers."""
        program: Any = self.program(options, operation)
        programs = [program]
        options = replace(options, users=1)
        self.point(options, operation, programs)
        self.check(options, programs)
        self.assure_allowed(options, programs)
        with self.targets.open(options, programs, untold) as target, translated():

            def alone(operation_script: Any, load_options: _O) -> Engine:
                load = Load(load_options, target, [operation_script])
                return Engine(*self.for_engine(load), tables=operation_script.own_tables)

            remedy = self.remedy(options, program)
            checking.check(program, options, alone, timeout_s=options.timeout, remedy=remedy)

    def remedy(self, options: _O, tried: Script) -> str:
        return "correct the scenario, or the target"

    def leftovers(self, options: _O) -> Callable[[], None]:
        """Return a function that reports entries left in the user's target after the run."""
        file = self.scenario_of(options)
        if options.target in self.targets.built_in or file is None:
            return lambda: None
        return lambda: say_kept(file, options.target)

    # Methods that all suites share.

    def program(self, options: _O, operation: str) -> _P:
        file: Any = self.scenario_of(options)
        return self.built_in(options, operation) if file is None else file

    def point(
        self, options: _O, operation: str, programs: Sequence[_P] | None = None, **settings: str
    ) -> PointSpec:
        """Return the specification of a point; `settings` identify it besides its options.

        Digests of the scenario file and of its data without secrets are settings too. `programs`
        are all programs that share the target, by default the operation's program alone.
        """
        if not is_name(operation):
            raise UnknownValue(
                f"{operation!r} cannot be the name of an operation",
                "use letters, digits, spaces and .,:+-_, at most 64",
            )
        if (described := self.described_by(options)) is not None and operation != described[0]:
            raise BadInput(
                f"{described[1]} and {operation!r} both describe the operations of users",
                "leave one of them out",
            )
        if programs is None:
            programs = [self.program(options, operation)]
        settings |= settings_of(options.scenario_path, programs)
        return PointSpec(
            suite=self.suite.name,
            operation=operation,
            entries=self.people(options, programs),
            target=options.target,
            users=options.users,
            rate=options.rate,
            warmup_s=options.warmup,
            measure_s=options.measure or 0.0,
            client=options.client,
            settings=identity.settings_of(options) | settings,
        )

    def test(
        self,
        options: _O,
        operation: str,
        programs: Sequence[_P] | None = None,
        custom_program: object = None,
        **settings: str,
    ) -> Test:
        if programs is None:
            programs = [self.program(options, operation)]
        user_class: str | None = None
        if custom_program is not None:
            user_class = OWN_USER
        elif self.described_by(options) is not None:
            user_class = "FileUser"
        elif operation in self.suite.operations:
            user_class = self.suite.operations[operation].user_class
        return Test(
            spec=self.point(options, operation, programs, **settings),
            options=convert.narrow(self.options, options),
            locustfile=self.suite.locustfile_path(),
            user_classes=() if user_class is None else (user_class,),
            program=custom_program,
            scenario=text_of(options.scenario_path, programs),
        )

    def stage(self, part: Part, progress: Progress, *, reused: bool = False) -> Stage:
        """Return the points of a part: each operation with each number of clients.

        `reused`: operations are measured several times, so entries are removed in between.
        """
        options = cast("_O", part.options)
        last = self.left_for_last
        ordered = sorted(part.operations, key=lambda name: last.index(name) if name in last else -1)
        programs = [self.program(options, name) for name in ordered]

        @contextlib.contextmanager
        def open_target() -> Iterator[_T]:
            self.assure_allowed(options, programs, named=part.named)
            with self.targets.open(options, programs, progress) as target:
                yield target.for_several_tests() if reused else target

        loads = [replace(options, users=users) for users in part.clients or (options.users,)]
        people = self.people(options, programs)
        many = plural(people, "person", "people")
        ready = f"with {many}" if people else f"for {', '.join(ordered)}"
        title = f"making {options.target} ready {ready}"
        tests = [self.test(one, name, programs) for name in ordered for one in loads]
        return Stage(title, tests, open_target)

    def assure_allowed(
        self, options: _O, programs: Sequence[_P], word: str = "operation", *, named: bool = True
    ) -> None:
        """Raise NotYours if programs may not write to the target.

        `named`: the user named the writing operation; it is no default.
        """
        writing = [program for program in programs if program.writes]
        if options.target in self.targets.built_in or not writing:
            return
        address, owned = self.targets.parse(options.target), options.i_own_this_target
        host_port = (address.host, address.port)
        for program in writing:
            operation_label = f"the {word} {program.name!r}"
            ownership.assure_own(*host_port, owned=owned, what=operation_label, named=named)
        for program in writing:
            if program.overwrites:
                ownership.assure_overwriting(*host_port, owned=owned, what=program.path)

    def api_stage(self, operation: Any, target: Any, entries: int | None, load: Any) -> Stage:
        """Return the point of `sitebench.run`; `target` can be a server in this process."""
        if isinstance(operation, str) and script.is_script(operation):
            load = {**load, "scenario": ScenarioFile(operation)}
            operation = script.name_of(operation)
        if is_elsewhere := isinstance(target, str):
            size = {} if entries is None else {"entries": entries}
            options = self.apply_address(self.options(target=target, **size, **load))
        else:
            ca = target.ca or load["tls_ca"]
            load = {**load, "target": target.url, "tls_ca": ca}
            options = self.targets.in_process(target, entries, load)
        if (file := self.scenario_of(options)) is not None:
            file_load = _load_of(file, options)
            file_load.pop("objective", None)
            options = staged(replace(options, **file_load))
        convert.check(options)
        check_pace(options)
        custom_program, settings = None, {}
        if isinstance(operation, str):
            name, program = operation, self.program(options, operation)
            if is_elsewhere:
                options = self.settle(options, [program])
                program = self.program(options, operation)
            self.check(options, [program])
        else:
            name, custom_program = operation.name, operation
            program = self.script_of(operation, options)
            settings = {self.word: repr(operation)}  # Without credentials.

        @contextlib.contextmanager
        def open_target() -> Iterator[_T]:
            if is_elsewhere:
                self.assure_allowed(options, [program])
            with self.targets.open(options, [program], untold) as server:
                yield server if is_elsewhere else opened_here(server, target, options)

        test = self.test(options, name, [program], custom_program, **settings)
        return Stage(options.target, [test], open_target)

    def facts(self, options: _O, sizes: Sequence[int]) -> dict[str, Any]:
        """Return facts for the run file: people, target, sizes, text of the scenario file."""
        people = self.population(options, max(sizes))
        facts: dict[str, Any] = {} if people is None else {"population": dict(people)}
        facts |= {"target": options.target, "sizes": list(sizes)}
        files = [file for file in [self.scenario_of(options)] if file is not None]
        if texts := scenarios_of(options.scenario_path, files):
            facts["scenarios"] = texts
        return facts


def _load_of(file: Script, options: SuiteOptions) -> dict[str, Any]:
    """Return the values of [load] by option, except options that the command line sets."""
    names = option.names_by_setting(type(options))
    load = {
        names[key]: value
        for key, value in file.load.items()
        if key in names and not options.is_set(names[key])
    }
    if options.stages is not None:
        excluded_names = _OF_STAGES | ({"users"} if options.stages.of_users else set())
        return {name: value for name, value in load.items() if name not in excluded_names}
    if (text := load.pop("stages", None)) is not None and not options.is_set("rate"):
        stages = option.named(Stages.parse, f"{file.path}: [load]")(text)
        if not (stages.of_users and options.is_set("users")):
            load["stages"] = stages
    return load


def points_of(suite: Suite) -> SuitePoints[Any, Any, Any]:
    points: SuitePoints[Any, Any, Any] = resolve_name(suite.points)
    return points
