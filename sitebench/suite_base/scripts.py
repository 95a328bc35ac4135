"""The points of a suite whose users may do what a scenario file says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sitebench._engine import Engine, Table
from sitebench.counts import fail_log
from sitebench.errors import BadFile, BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.measure.options import PeakOptions
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.scenario import checking, script
from sitebench.scenario.script import Script
from sitebench.suite import suites
from sitebench.suite_base.points import Program, SuitePoints
from sitebench.system.native_errors import translated
from sitebench.targets.open_target import OpenTarget

_P = TypeVar("_P", bound=Program)
_T = TypeVar("_T", bound=OpenTarget[Any])


class ScriptPoints(SuitePoints[_P, _T]):
    """Points of operations, or of a file that stands in their place."""

    by_file = "scenario"

    # What a suite adds.

    @abstractmethod
    def lone_engine(self, options: Any, program: Script, target: _T) -> Engine:
        """Return an engine for one user of a program."""

    def scenario_name(self, options: Any) -> str | None:
        """Return what the scenario that options name is called; None without one.

        Options may be Locust's own, in which what was not given is an empty text.
        """
        return script.name_of(options.scenario) if options.scenario else None

    def scenario_of(self, options: Any) -> Script | None:
        """Return that scenario; raises what is wrong with it."""
        return None if options.scenario is None else script.read(options.scenario, options.data)

    # What all have.

    def named(self, options: Any, text: str) -> tuple[Any, str]:
        """Return the operation of a scenario file, or of the suite."""
        if not script.is_script(text):
            if text == self.scenario_name(options):
                return options, text
            return super().named(options, text)
        if options.scenario not in (None, text) or (
            options.scenario is None and self.scenario_name(options)
        ):
            raise BadInput("one command takes one scenario", "measure them one after another")
        return replace(options, scenario=text), script.name_of(text)

    def described_by(self, options: Any) -> tuple[str, str] | None:
        name = self.scenario_name(options)
        return None if name is None else (name, "the scenario file")

    def file(self, options: Any) -> str | None:
        return None if options.scenario is None else script.split(options.scenario)[0]

    def point(
        self,
        options: Any,
        operation: str,
        programs: Sequence[_P] | None = None,
        **settings: str,
    ) -> PointSpec:
        """Return a point; the data of a scenario are part of it, but for what is secret."""
        if (found := self.scenario_of(options)) is not None:
            settings |= {f"data_{name}": digest for name, digest in found.digests.items()}
        return super().point(options, operation, programs, **settings)

    def user_class(self, options: Any) -> str | None:
        return None if self.scenario_name(options) is None else "FileUser"

    def api_stage(self, operation: str | _P, target: Any, entries: int | None, load: Any) -> Stage:
        if isinstance(operation, str) and script.is_script(operation):
            load, operation = {**load, "scenario": operation}, script.name_of(operation)
        return super().api_stage(operation, target, entries, load)

    def check(self, options: Any, programs: Sequence[_P]) -> None:
        super().check(options, programs)
        for each in programs:
            if not isinstance(each, Script):
                continue
            self._assure_understood(each)
            for name, rows in each.per_user.items():
                if rows < options.users:
                    raise BadInput(
                        f"{each.path}: each user keeps a row of {name}, which has {rows:,}, and "
                        f"there are {options.users:,} users",
                        f"give --users {rows}, or more rows",
                    )

    def asked(self, options: Any) -> Any:
        """Take what a scenario file says of the load, where the command line says nothing.

        It may be a stranger's: what it sends of the environment is said.
        """
        from sitebench.measure.command import say

        if options.fail_log is not None:
            if getattr(options, "check", False):
                raise BadInput("--check says itself what failed", "leave --fail-log out")
            fail_log.begin(options.fail_log)
        found = self.scenario_of(options)
        if found is None:
            if options.data:
                raise BadInput("--data is of a scenario file, and none is named", "leave it out")
            return options
        if names := found.secrets:
            shown = ", ".join(f"${name}" for name in names)
            say(f"{found.path} sends {shown} of this environment to {options.target}")
        for file in found.elsewhere:
            say(f"{found.path} sends what is in {file} to {options.target}")
        if found.overwrites and options.target not in self.own_targets and not options.check:
            many = f"up to {found.rows:,} entries" if found.rows else "entries"
            say(f"{found.path} changes {many} of {options.target}; nothing changes them back")
        load = {
            name: value
            for name, value in found.load.items()
            if hasattr(options, name) and not getattr(options, f"{name}_given", False)
        }
        text, peak = load.pop("objective", None), isinstance(options, PeakOptions)
        # Loads that a command names are measured, whatever a file asks for.
        if hasattr(options, "objective") and not (peak and options.clients_given):
            asked = options.objective or (Objective.parse(text) if text else None)
            load["objective"] = _objective(found, asked)
            if peak and load["objective"]:
                load.pop("clients", None)
        return replace(options, **load)

    def _assure_understood(self, program: Script) -> None:
        """Raise where a file is for targets of another suite."""
        suite = self.suite
        theirs = [
            each
            for each in suites()
            if each.takes_files == program.protocol
            and (each is suite or program.verbs.intersection(each.own_verbs))
        ]
        if suite.takes_files == program.protocol and theirs == [suite]:
            return
        others = [each for each in theirs if each is not suite] or [
            each for each in suites() if each.takes_files == program.protocol
        ]
        raise BadInput(
            f"{program.path} is for no {suite.title.lower()}",
            f"measure it with `sitebench {others[0].first_name} run`",
        )

    def try_once(self, options: Any, operation: str) -> None:
        if (found := self.scenario_of(options)) is None:
            return super().try_once(options, operation)
        programs: list[Any] = [found]
        self.point(options, operation, programs)
        self.check(options, programs)
        self.assure_allowed(options, programs)
        with self.open(options, programs) as target, translated():
            checking.check(found, options, lambda one, lone: self.lone_engine(lone, one, target))
        return None

    def leftovers(self, options: Any) -> Callable[[], None]:
        found = self.scenario_of(options)
        if options.target in self.own_targets or found is None:
            return super().leftovers(options)
        return lambda: _kept(found, options.target)


def _objective(found: Script, asked: Objective | None) -> Objective | None:
    """Return an objective with those of a file's operations."""
    for row, text, share in found.objectives:
        try:
            own = Objective.parse(text).about_operation(row, share)
        except UnknownValue as error:
            raise BadFile(
                f"{found.path}: operation {row!r}: {error.message}", error.remedy
            ) from None
        asked = own if asked is None else asked + own
    return asked


def _kept(found: Script, target: str) -> None:
    """Say which entries a scenario added, and meant to leave."""
    from sitebench.measure.command import say

    for name in found.keeps:
        say(f"what {found.path} added to {target} stays there: {name}")


@dataclass(frozen=True)
class Data:
    """Digests of the data of scenarios, which each process of a test reads itself."""

    digests: Mapping[str, str]

    @classmethod
    def of(cls, programs: Iterable[Any]) -> Data:
        scripts = [each for each in programs if isinstance(each, Script)]
        return cls(
            {f"{s.path}/{name}": found for s in scripts for name, found in s.digests.items()}
        )

    def tables(self, programs: Iterable[Any]) -> dict[str, Table]:
        """Return the data of programs here; raises where they are not those of the master."""
        tables: dict[str, Table] = {}
        for each in programs:
            if not isinstance(each, Script):
                continue
            for name, digest in each.digests.items():
                if self.digests.get(f"{each.path}/{name}") != digest:
                    raise BadFile(
                        f"the data {name!r} of {each.path} are others here than where the test was "
                        "started",
                        "give each machine the same file, at the same path",
                    )
            tables |= each.own_tables
        return tables
