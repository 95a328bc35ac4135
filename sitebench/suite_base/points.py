"""The points of a suite: what each measures, the target it is measured at, and its Locust process.

`SuitePoints` is what commands, Locust runs and the Python API ask of a suite. Its own `points.py`
says how its programs and its targets are made, and the rest follows.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.options import check_pace
from sitebench.measure.point_process import Gathering, PointCommand
from sitebench.measure.sweep import Stage
from sitebench.options import convert
from sitebench.options.spelling import nearest
from sitebench.runs.point import PointSpec, is_name
from sitebench.suite import Suite
from sitebench.system import secret
from sitebench.system.scratch import scratch
from sitebench.targets.open_target import OpenTarget

Progress = Callable[[int, int], object]
"""Progress of what takes long: called with how much is done, and the total."""


class Program(Protocol):
    """What the users of an operation repeat: a sequence, a scenario, a workload."""

    @property
    def name(self) -> str: ...
    @property
    def writes(self) -> bool: ...
    @property
    def needs_people(self) -> bool: ...


_P = TypeVar("_P", bound=Program)
_T = TypeVar("_T", bound=OpenTarget[Any])

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class OwnUser({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


@dataclass(frozen=True)
class Endpoint:
    """An open target that points are measured at."""

    suite: Suite
    target: OpenTarget[Any]
    options: Any
    locust_options: type[Any]
    """What the suite's locustfile takes."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Those of them that only this suite has, and that follow from its target."""
    own: tuple[Path, str] | None = None
    """A locustfile and its class, for an operation that the suite does not have."""
    user_class: str | None = None
    """The class of the suite's locustfile, where it does not follow from the operation."""
    pending_cleanup: Callable[[int], str | None] = lambda pid: None
    """What a point's process still removes from the target, in words."""

    def command(self, spec: PointSpec) -> PointCommand:
        target, owned = self.target, self.options.i_own_this_target
        here = replace(
            convert.narrowed(self.locust_options, self.options),
            target=str(target.address),
            tls=False,
            tls_ca=target.ca,
            # Those of the target, which is open.
            target_limits=None,
            # A command's is the file of all its points, which PointCommand names.
            out=None,
            i_own_this_target=owned or target.disposable,
            rate=spec.rate,
            measure=spec.measure_s or None,
            grow=not self.options.measure_given,
            threads=spec.threads or self.options.threads,
            **self.arguments,
        )
        locustfile, user_class = self.own or (
            self.suite.locustfile_path(),
            self.user_class or self.suite.operations[spec.operation],
        )
        return PointCommand(
            locustfile,
            user_class,
            convert.to_argv(here),
            target.pid,
            target.cores,
            Gathering.of(self.options),
            self.pending_cleanup,
        )

    def check(self) -> None:
        """Raise when the target does not answer any more."""
        self.target.check()

    def facts(self) -> dict[str, Any]:
        """Return its name, version and configuration, as far as it says."""
        return {"name": self.target.name, **self.target.facts}


@dataclass(frozen=True)
class OwnUser:
    """The user class that repeats a program of the caller's, and the attribute that takes it."""

    module: str
    base: str
    attribute: str


@contextlib.contextmanager
def _own_locustfile(user: OwnUser, program: Program | None) -> Iterator[tuple[Path, str] | None]:
    """Yield a locustfile whose one class repeats the program, and the name of the class.

    None for None: the suite's own locustfile has the operation. The program itself is handed on in
    memory: a sequence may hold a password, and a file would outlive a program that is killed.
    """
    if program is None:
        yield None
        return
    with scratch() as folder, secret.held(pickle.dumps(program)) as kept:
        path = folder / "own.py"
        words = {"module": user.module, "base": user.base, "attribute": user.attribute}
        path.write_text(_LOCUSTFILE.format(**words, kept=kept))
        yield path, "OwnUser"


class SuitePoints(ABC, Generic[_P, _T]):
    """What a suite measures: its programs, its targets, and the points made of both."""

    suite: ClassVar[Suite]
    options: ClassVar[type[Any]]
    """What identifies one point."""
    locust_options: ClassVar[type[Any]]
    """What the suite's locustfile takes."""
    own_targets: ClassVar[Collection[str]]
    """Targets that are started for a test; any other is the user's."""
    user: ClassVar[OwnUser]
    by_file: ClassVar[str | None] = None
    """The operation that a file of the user's describes, and the option that names the file."""
    left_for_last: ClassVar[Sequence[str]] = ()
    """Operations that change a target for those after them: measured last, in this order."""

    # What a suite adds.

    @abstractmethod
    def program(self, options: Any, operation: str) -> _P:
        """Return what the users of an operation repeat; raises what is wrong with its file."""

    @abstractmethod
    def open(
        self, options: Any, programs: Sequence[_P], progress: Progress = lambda done, total: None
    ) -> AbstractContextManager[_T]:
        """Open the target that options name, ready for programs; put everything back after."""

    @abstractmethod
    def address(self, options: Any, programs: Sequence[_P]) -> _T:
        """Address a target of the user's; raises what is wrong with it."""

    @abstractmethod
    def assure_own(self, options: Any, what: str, *, named: bool) -> None:
        """Raise NotYours unless `what` may write to the target that options name.

        `named`: the user named what writes; it is no default.
        """

    @abstractmethod
    def here(self, server: Any, entries: int | None, load: dict[str, Any]) -> tuple[Any, _T]:
        """Return the options of a test at a server in this process, and that as a target."""

    def population(self, options: Any, size: int) -> Mapping[str, Any] | None:
        """Return what is known of the people in the target; None for a suite without any."""
        return None

    def people(self, options: Any, programs: Sequence[_P]) -> int:
        """Return how many people a test is with; none where nothing makes or asks for them."""
        # A suite whose targets hold no people has no such option.
        found: int = getattr(options, "entries", 0)
        own = options.target in self.own_targets
        return found if own or any(map(self.needs_people, programs)) else 0

    def needs_people(self, program: _P) -> bool:
        """Return whether a target of the user's has to hold people for a program."""
        return program.needs_people

    def check(self, options: Any, programs: Sequence[_P]) -> None:
        """Raise what is wrong with options, as far as it shows before anything is begun."""
        if (described := self.described_by(options)) is not None:
            self.program(options, described[0])

    def data(self, options: Any) -> Path | None:
        """Return a folder on the disk that a target started here uses, if it uses one."""
        return None

    def notes(self, factor: str) -> Sequence[str]:
        """Return what the papers found when they varied a factor."""
        return ()

    def arguments(self, target: _T, *, reused: bool) -> Mapping[str, Any]:
        """Return those of the locustfile's options that follow from the target, beside all suites'.

        `reused`: an operation is measured there more than once, so what it added must not stay.
        """
        return {}

    def pending_cleanup(self, pid: int) -> str | None:
        """Return what a point's process still removes from the target, in words."""
        return None

    def asked(self, options: Any) -> Any:
        """Return a command's options with what it has to ask for before it begins."""
        return options

    def settled(self, options: Any, programs: Sequence[_P], *, named: bool = True) -> Any:
        """Return options with what the target decides of them, if programs may be run there."""
        return options

    def named(self, options: Any, text: str) -> tuple[Any, str]:
        """Return the operation that a command was given, and the options with what it says."""
        if text not in self.suite.operations:
            known = ", ".join(self.suite.operations)
            if "://" in text:
                raise UnknownValue(f"{text!r} is an address", f"give it with --target {text}")
            if self.by_file is not None and self.file(options) is not None:
                raise UnknownValue(
                    f"unknown operation {text!r}",
                    f"a {self.by_file} file has them all: name none, and see each in the report",
                )
            if "," in text:
                raise UnknownValue(f"{text!r} is not one operation", f"use one of {known}")
            near = nearest(text, self.suite.operations)
            meant = "" if near is None else f"did you mean {near}? "
            or_file = "; or name a scenario file" if self.suite.takes_files else ""
            raise UnknownValue(f"unknown operation {text!r}", f"{meant}use one of {known}{or_file}")
        return options, text

    def try_once(self, options: Any, operation: str) -> None:
        """Do each part of an operation once, and print what came of it."""
        raise BadInput(f"{operation} is no scenario file", "leave --check out")

    def leftovers(self, options: Any) -> Callable[[], None]:
        """Return what says, after a run that begins now, what stays in a target of the user's."""
        return lambda: None

    def described(self, program: _P) -> str:
        """Return a program of the caller's own as a run file may hold it: without credentials."""
        return repr(program)

    # What all have.

    def file(self, options: Any) -> str | None:
        """Return the file of the user's that describes what users do, if options name one."""
        found: str | None = self.by_file and getattr(options, self.by_file)
        return found

    def user_class(self, options: Any) -> str | None:
        """Return the class that runs what options describe, where no operation is named so."""
        return None

    def described_by(self, options: Any) -> tuple[str, str] | None:
        """Return the operation that options describe, and which of them; None if none does."""
        if self.by_file is None or self.file(options) is None:
            return None
        return self.by_file, f"a {self.by_file} file"

    def point(
        self,
        options: Any,
        operation: str,
        programs: Sequence[_P] | None = None,
        **settings: str,
    ) -> PointSpec:
        """Return the specification of one point; `settings` identify it besides its options.

        The content of the user's file is part of it. `programs` are all that share its target, if
        it is not the operation's alone.
        """
        if not is_name(operation):
            raise UnknownValue(
                f"{operation!r} cannot be the name of an operation",
                "give it letters, digits, spaces and .,:+-_, at most 64",
            )
        if (described := self.described_by(options)) is not None and operation != described[0]:
            raise BadInput(
                f"{described[1]} says what users do, and so does {operation!r}",
                "leave one of them out",
            )
        if programs is None:
            programs = [self.program(options, operation)]
        if (path := self.file(options)) is not None:
            # Read once more: what is wrong with it was said above.
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            settings[f"{self.by_file}_digest"] = digest
        chosen = convert.to_texts(options) | settings
        if options.rate is None or options.arrivals == "even":
            # Even ones are not named: points measured before there was a choice keep their keys.
            del chosen["arrivals"]
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
            settings=chosen,
        )

    def endpoint(
        self,
        target: _T,
        options: Any,
        own: tuple[Path, str] | None = None,
        *,
        reused: bool = False,
    ) -> Endpoint:
        """Return where points are measured; `own` is a locustfile and its class."""
        return Endpoint(
            self.suite,
            target,
            options,
            self.locust_options,
            self.arguments(target, reused=reused),
            own,
            self.user_class(options),
            self.pending_cleanup,
        )

    def stage(
        self,
        options: Any,
        operations: Sequence[str],
        progress: Progress,
        *,
        clients: Sequence[int] = (),
        reused: bool = False,
        named: bool = True,
    ) -> Stage:
        """Return points that share a target: operations, each with every number of clients.

        `named`: the user named the operations; they are no default.
        """
        last = self.left_for_last
        ordered = sorted(operations, key=lambda name: last.index(name) if name in last else -1)
        programs = [self.program(options, name) for name in ordered]

        @contextlib.contextmanager
        def opened() -> Iterator[Endpoint]:
            self.assure_allowed(options, programs, named=named)
            with self.open(options, programs, progress) as target:
                yield self.endpoint(target, options, reused=reused)

        each = [replace(options, users=users) for users in clients or (options.users,)]
        people = self.people(options, programs)
        ready = f"with {people:,} people" if people else f"for {', '.join(ordered)}"
        title = f"making {options.target} ready {ready}"
        points = [self.point(one, name, programs) for name in ordered for one in each]
        return Stage(title, points, opened)

    def assure_allowed(
        self, options: Any, programs: Sequence[_P], word: str = "operation", *, named: bool = True
    ) -> None:
        """Raise NotYours unless programs may do at the target of options what they do."""
        if options.target not in self.own_targets:
            for program in programs:
                if program.writes:
                    self.assure_own(options, f"the {word} {program.name!r}", named=named)

    def api_stage(self, operation: str | _P, target: Any, entries: int | None, load: Any) -> Stage:
        """Return the one point that `sitebench.run` measures; `target` may be a server here."""
        here: _T | None = None
        if isinstance(target, str):
            size = {} if entries is None else {"entries": entries}
            options = self.options(target=target, **size, **load)
        else:
            options, here = self.here(target, entries, load)
        convert.check(options)
        check_pace(options)
        own: _P | None = None
        settings = {}
        if isinstance(operation, str):
            name, program = operation, self.program(options, operation)
            if here is None:
                options = self.settled(options, [program])
                program = self.program(options, operation)
            self.check(options, [program])
        else:
            name, own, program = operation.name, operation, operation
            settings = {self.user.attribute: self.described(operation)}

        @contextlib.contextmanager
        def opened() -> Iterator[Endpoint]:
            if here is None:
                self.assure_allowed(options, [program])
            opening = self.open(options, [program]) if here is None else here
            with opening as there, _own_locustfile(self.user, own) as made:
                yield self.endpoint(there, options, made)

        return Stage(options.target, [self.point(options, name, [program], **settings)], opened)

    def facts(self, options: Any, sizes: Sequence[int]) -> dict[str, Any]:
        """Return the suite's facts about a run; those of the user's file are its text."""
        people = self.population(options, max(sizes))
        found: dict[str, Any] = {} if people is None else {"population": dict(people)}
        found |= {"target": options.target, "sizes": list(sizes)}
        if self.by_file is not None and (path := self.file(options)) is not None:
            found[self.by_file] = Path(path).read_text(encoding="utf-8")
        return found


def points_of(suite: Suite) -> SuitePoints[Any, Any]:
    """Import what a suite measures."""
    found: SuitePoints[Any, Any] = resolve_name(suite.points)
    return found
