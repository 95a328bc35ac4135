"""Scenarios of one virtual user that are written in Python, and the suite's scenario files.

A `Sequence` is data: it writes the text of a scenario. A locustfile may have sequences of its own
(docs/sequences.md). `counts` names the step that is an operation in results; with `sequence`, all
steps together are one operation. A step's `name` distinguishes steps of one kind: Table 3 looks up
other people, and the user.

`scenarios/` has a file for each operation of the paper's Tables 2 and 3 (pages 8 and 9); some
profiles have files of their own.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ils_bench.quick import plain, quote
from sitebench._engine import profile_facts
from sitebench.counts.source import SEQUENCE
from sitebench.errors import BadInput
from sitebench.options.arguments import check_arguments
from sitebench.scenario.script import Script, from_text

_ONLINE_MINUTES = 10
"""NetMeeting's value of sttl: the number of minutes for which a search keeps a user online."""


class BadSequence(BadInput):
    """A sequence that no lane could run."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a sequence."""

    @property
    def label(self) -> str:
        """Name under which the step is recorded."""
        return getattr(self, "name", "") or type(self).__name__.lower()


@dataclasses.dataclass(frozen=True)
class Connect(Step):
    """Open a TCP connection."""

    name: str = ""


@dataclasses.dataclass(frozen=True)
class Bind(Step):
    """Bind: anonymously, simply with a DN and a password, or by a SASL mechanism."""

    dn: str = ""
    password: str = dataclasses.field(default="", repr=False)
    version: int = 3
    name: str = ""
    sasl: str | None = None


@dataclasses.dataclass(frozen=True)
class Unbind(Step):
    """Send an unbind request, and close the connection."""

    name: str = ""


@dataclasses.dataclass(frozen=True)
class Repeat(Step):
    """Do the steps a number of times."""

    times: int
    steps: tuple[Step, ...]


@dataclasses.dataclass(frozen=True)
class Think(Step):
    """Pause before the next step."""

    mean_ms: float
    distribution: str = "exponential"


@dataclasses.dataclass(frozen=True)
class Lookup(Step):
    """Find one person by name; without `attributes` the answer has all attributes.

    `person` is `random`, `current` (the person of the step before), `new`, or `own`: the person
    whom the user stands for as long as the test runs. With `refresh_minutes` the search also keeps
    that person online, as clients of an ILS do.
    """

    person: str = "random"
    attributes: tuple[str, ...] = ()
    refresh_minutes: int | None = None
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Add(Step):
    """Add a new person."""

    person: str = "new"
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Delete(Step):
    """Remove a person."""

    person: str = "current"
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of a Modify: add, delete, replace or increment (RFC 4525)."""

    op: str
    attribute: str
    values: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Modify(Step):
    """Change a person's attributes."""

    changes: tuple[Change, ...]
    person: str = "current"
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Refresh(Step):
    """Keep a person online by the extended operation of RFC 2589."""

    ttl_s: int = _ONLINE_MINUTES * 60
    person: str = "current"
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Compare(Step):
    """Compare a person's value in the directory with the value in the population."""

    attribute: str = "cn"
    person: str = "random"
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Retrieve(Step):
    """List all people, up to the size limit of the server or of the step."""

    attributes: tuple[str, ...] = ("cn",)
    size_limit: int = 0
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Search(Step):
    """Search with any filter; the default base is the target's."""

    filter: str = "(objectClass=*)"
    base: str = ""
    scope: str = "sub"
    attributes: tuple[str, ...] = ()
    expect_entries: int | None = None
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Sequence:
    """A named list of steps, and the step that counts as an operation."""

    name: str
    steps: tuple[Step, ...]
    counts: str = "sequence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        labels = {step.label for step in walk(self.steps)} | {"sequence"}
        if self.counts not in labels:
            raise BadSequence(
                f"sequence {self.name!r} counts {self.counts!r}, which is not one of its steps",
                f"let it count one of {', '.join(sorted(labels))}",
            )

    def script(self, profile: str = "paper", named_by: str | None = None) -> Script:
        """Return the scenario for people of a profile, or named by an attribute."""
        return _script_of(self, profile, named_by)

    def thinking(self, mean_s: float) -> Sequence:
        """Return the sequence with a think time after each counted operation."""
        if mean_s <= 0:
            return self
        pause = Think(mean_s * 1e3)
        if self.counts == "sequence":
            return dataclasses.replace(self, steps=(*self.steps, pause))
        return dataclasses.replace(self, steps=_with_pauses(self.steps, self.counts, pause))


for _kind in (*Step.__subclasses__(), Change, Sequence):
    _kind.__init__ = check_arguments(_kind.__init__)  # type: ignore[misc]


def walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield every step, also within repetitions."""
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            yield from walk(step.steps)


def _with_pauses(steps: tuple[Step, ...], label: str, pause: Think) -> tuple[Step, ...]:
    paused: list[Step] = []
    for step in steps:
        if isinstance(step, Repeat):
            paused.append(dataclasses.replace(step, steps=_with_pauses(step.steps, label, pause)))
        else:
            paused += [step, pause] if step.label == label else [step]
    return tuple(paused)


@lru_cache(maxsize=64)
def _script_of(sequence: Sequence, profile: str, named_by: str | None) -> Script:
    writer = _Writer(sequence.name, profile, named_by)
    script = from_text(sequence.name, writer.text(sequence))
    path = f"the sequence {sequence.name!r}"
    return dataclasses.replace(script, path=path, own_env=writer.secrets, think_s=writer.think_s)


class _Writer:
    def __init__(self, name: str, profile: str, named_by: str | None) -> None:
        self._name, self._profile, self._named_by = name, profile, named_by
        self._class, self._naming, _ = profile_facts(profile)
        self._data: dict[str, str] = {}
        self._current = self._newcomer = ""
        self.secrets: dict[str, str] = {}
        """Passwords by variable of the environment; the text has the variables."""
        self.think_s = 0.0
        """The mean pause after a pass, without a connection."""

    def text(self, sequence: Sequence) -> str:
        first, *rest = sequence.steps or (None,)
        if not isinstance(first, Connect):
            raise self._bad("begins without a connection", "begin with Connect()")
        if all(isinstance(step, Unbind | Think) for step in walk(tuple(rest))):
            raise self._bad("sends no request", "add a step, such as Bind()")
        if any(isinstance(step, Connect) for step in walk(tuple(rest))):
            raise self._bad(
                "connects twice", "have one Connect; a scenario file has any number of connections"
            )
        lives = 'per = "iteration"'
        match rest[-2:]:
            case [Unbind(), Think(mean_ms, "exponential")]:
                self.think_s = mean_ms / 1e3
                rest.pop()
        if rest and isinstance(rest[-1], Unbind) and len(rest) > 1:
            rest.pop()
        if any(isinstance(step, Unbind) for step in walk(tuple(rest[:-1]))):
            raise self._bad("asks for more after Unbind", "unbind at the end")
        connection = []
        if len(rest) > 1 and isinstance(bind := rest[0], Bind):
            rest.pop(0)
            connection = self._identity(bind)
        counted = {"counts": quote(sequence.counts)} if sequence.counts != SEQUENCE else {}
        match rest:
            case [Repeat(times, (lone,))] if lone.label == sequence.counts and not isinstance(
                lone, Repeat
            ):
                # The repeated step is the operation; a connection is kept for `times` operations.
                lives, rest = f"per = {times}", [lone]
        steps = "".join(self._step("operation.step", step) for step in rest)
        return "\n".join(
            (
                "[connection.main]",
                lives,
                *connection,
                *(f"\n[data.{name}]\n{rows}" for name, rows in self._data.items()),
                "\n[[operation]]",
                f"name = {quote(sequence.name)}",
                *(f"{key} = {value}" for key, value in counted.items()),
                steps,
            )
        )

    def _step(self, table: str, step: Step) -> str:
        if isinstance(step, Repeat):
            inner = "".join(self._step(f"{table}.step", child) for child in step.steps)
            return f"\n[[{table}]]\nrepeat = {step.times}\n{inner}"
        if isinstance(step, Think):
            think = f'think = "{step.mean_ms:.6f}ms"\ndistribution = {quote(step.distribution)}'
            return f"\n[[{table}]]\n{think}\n"
        lines = self._identity(step) if isinstance(step, Bind) else self._request(step)
        return "\n".join((f"\n[[{table}]]", f"name = {quote(step.label)}", *lines, ""))

    def _request(self, step: Step) -> list[str]:
        match step:
            case Unbind():
                lines = ['unbind = "main"']
            case Lookup():
                lines = self._lookup(step)
            case Add(person):
                data = self._person(person, adds=True)
                lines = [_data_of("add", data), f"entry = {quote(data)}"]
            case Delete(person):
                lines = [_data_of("delete", self._person(person))]
            case Modify(changes, person):
                lines = [_data_of("modify", self._person(person)), f"change = {_changes(changes)}"]
            case Refresh(ttl_s, person):
                lines = [_data_of("refresh", self._person(person)), f'ttl = "{ttl_s}s"']
            case Compare(attribute, person):
                data = self._person(person)
                value = quote(f"{{{data}.{attribute}}}")
                lines = [_data_of("compare", data), f"entry = {{ {quote(attribute)} = {value} }}"]
            case Retrieve(attributes, size_limit):
                self._data["everyone"] = _SEEDED
                expect = 'every = "everyone", entries = "all"'
                lines = [
                    f"search = {quote(self._everyone())}",
                    *self._scope(),
                    *_attributes(attributes),
                    *([f"size_limit = {size_limit}"] if size_limit else []),
                    f'expect = {{ result = ["success", "sizeLimitExceeded"], {expect} }}',
                ]
            case Search(condition, base, scope, attributes, entries):
                lines = [
                    f"search = {quote(plain(condition))}",
                    *([f"base = {quote(plain(base))}"] if base else []),
                    f"scope = {quote('sub' if scope == 'subtree' else scope)}",
                    *_attributes(attributes),
                    *([] if entries is None else [f"expect.entries = {entries}"]),
                ]
            case _:
                raise self._bad(f"has a step {step.label!r} of its own", "use those of sitebench")
        return lines

    def _identity(self, step: Bind) -> list[str]:
        lines = [f"bind = {quote(plain(step.dn))}"]
        if step.dn or step.sasl == "plain":
            name = f"PASSWORD_{len(self.secrets) + 1}"
            self.secrets[name] = step.password
            lines.append(f'password = "{{env.{name}}}"')
        if step.sasl:
            lines.append(f"sasl = {quote(step.sasl)}")
        return [*lines, *([f"version = {step.version}"] if step.version != 3 else [])]

    def _person(self, key: str, *, adds: bool = False) -> str:
        """Return the name of the [data] table of a step's person."""
        if key == "own":
            self._data["own"] = f'{_SEEDED}\nper = "user"'
            self._current = "own"
        elif key == "new" and adds:
            self._newcomer = self._current = f"newcomer{len(self._data) + 1}"
            self._data[self._current] = 'people = "new"'
        elif key == "new":
            if not self._newcomer:
                raise self._bad("is about a new person, and adds none before", "add one: Add()")
            self._current = self._newcomer
        elif key == "random" or not self._current:
            self._current = f"person{len(self._data) + 1}"
            self._data[self._current] = _SEEDED
        return self._current

    def _lookup(self, step: Lookup) -> list[str]:
        data, refresh_minutes = self._person(step.person), step.refresh_minutes
        if refresh_minutes is not None and self._profile != "ils":
            raise self._bad(
                "prolongs by searching, which only an Internet Locator Server does",
                "use Refresh, or --profile ils",
            )
        prolongs = "" if refresh_minutes is None else f"(sttl={refresh_minutes})"
        person = f"({self._naming}={{{data}.{self._naming}}})"
        text = f"(&(objectClass={self._class}){person}{prolongs})"
        if self._named_by is not None and not data.startswith("newcomer"):
            text = f"({self._named_by}={{{data}.{self._named_by}}})"
        expect = f"expect.entry = {quote(data)}"
        return [f"search = {quote(text)}", *self._scope(), *_attributes(step.attributes), expect]

    def _everyone(self) -> str:
        if self._named_by is not None:
            return f"({self._named_by}=*)"
        kind = f"(objectClass={self._class})"
        return f"(&{kind}(cn=%))" if self._profile == "ils" else kind

    def _scope(self) -> list[str]:
        """Return lines of base and scope, which a search for people needs at an ILS (MS-TAIL)."""
        if self._profile != "ils":
            return []
        return ['base = "objectClass=rtPerson"', 'scope = "base"']

    def _bad(self, problem: str, remedy: str) -> BadSequence:
        return BadSequence(f"sequence {self._name!r} {problem}", remedy)


_SEEDED = 'people = "seeded"'


def _data_of(verb: str, data: str) -> str:
    return f"{verb} = {quote(f'{{{data}.dn}}')}"


def _attributes(attributes: tuple[str, ...]) -> list[str]:
    return [f"attributes = [{', '.join(map(quote, attributes))}]"] if attributes else []


def _changes(changes: tuple[Change, ...]) -> str:
    kinds: dict[str, list[str]] = {}
    for change in changes:
        values = ", ".join(quote(plain(value)) for value in change.values)
        if change.op != "increment":
            values = f"[{values}]"
        kinds.setdefault(change.op, []).append(f"{quote(change.attribute)} = {values}")
    tables = [f"{op} = {{ {', '.join(members)} }}" for op, members in kinds.items()]
    return f"{{ {', '.join(tables)} }}"


@lru_cache
def built_in(
    operation: str, profile: str = "paper", session_s: float = 1200.0, named_by: str | None = None
) -> Script:
    """Return an operation of the suite, read from its file."""
    if operation == "register" and profile_facts(profile)[2]:
        raise BadInput(
            f"people of the profile {profile} do not register with an Internet Locator Server",
            "measure add, or name people who do: --profile paper",
        )
    text = text_of(operation, profile, named_by)
    # Options determine the length of a session, so [load] of the file is dropped.
    return dataclasses.replace(from_text(operation, text, session_s=session_s), load={})


def text_of(operation: str, profile: str = "paper", named_by: str | None = None) -> str:
    """Return the file of an operation of the suite, for people of a profile.

    `named_by` is the attribute that names people of the user's directory.
    """
    path = _FILES / f"{operation}-{profile}.toml"
    text = (path if path.exists() else _FILES / f"{operation}.toml").read_text(encoding="utf-8")
    kind, naming, _ = profile_facts(profile)
    text = text.replace("(objectClass=RTPerson)", f"(objectClass={kind})")
    text = _BY_NAME.sub(rf"({naming}={{\1.{naming}}})", text)
    if named_by is None:
        return text
    text = _PERSON.sub(rf'"({named_by}={{\1.{named_by}}})"', text)
    return _EVERYONE.sub(f'"({named_by}=*)"', text)


_FILES = Path(__file__).parent / "scenarios"
_BY_NAME = re.compile(r"\(cn=\{(\w+)\.cn\}\)")
"""Filter for a person in the built-in files."""
_PERSON = re.compile(
    r'"\(&\(objectClass=\w+\)\(\w+=\{(?!newcomer)(\w+)\.\w+\}\)(?:\(sttl=\d+\))?\)"'
)
_EVERYONE = re.compile(r'"(?:\(&)?\(objectClass=\w+\)(?:\(cn=%\)\))?"')


CONNECT, ADD, LOOKUP, RETRIEVE = map(built_in, ("connect", "add", "lookup", "retrieve"))
