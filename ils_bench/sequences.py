"""What one virtual user repeats: steps as frozen dataclasses, compiled once for the engine.

A sequence is data. The engine runs it natively, `--client ldap3` runs the same one in Python, and
a locustfile may bring its own:

    prefix = Sequence(
        "prefix",
        (Connect(), Bind(), Repeat(50, (Search(filter="(cn=Anna*)"),)), Unbind()),
        counts="search",
    )

`counts` names the step that is "an operation" in results, or `sequence` for the whole pass. A
step's `name` tells two steps of one kind apart (Table 3 looks up others, and itself).

The suite's own are in `scenarios/`, one file for each operation of the papers' Tables 2 and 3
(pages 8 and 9); two profiles of people may have two.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from sitebench._engine import check_scenario, profile_facts
from sitebench.errors import BadInput
from sitebench.frozen import frozen
from sitebench.scenario.script import REMOVE

_ONLINE_MINUTES = 10
"""How long a search with sttl keeps a user online: what NetMeeting asks for."""


class BadSequence(BadInput):
    """A sequence that no lane could run."""


@frozen
class Step:
    """One thing a lane does."""

    op: ClassVar[str]

    def to_program(self) -> dict[str, Any]:
        """Return the step as the engine reads it; unset fields are left out."""
        program: dict[str, Any] = {"op": self.op}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if value not in (None, "", ()):
                program[each.name] = _plain(value)
        return program

    @property
    def label(self) -> str:
        """Name under which the step is recorded."""
        return getattr(self, "name", "") or self.op


def _plain(value: Any) -> Any:
    if isinstance(value, Step):
        return value.to_program()
    if isinstance(value, Change):
        return {"op": value.op, "attribute": value.attribute, "values": list(value.values)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


@frozen
class Connect(Step):
    """Open a TCP connection."""

    op = "connect"
    name: str = ""


@frozen
class Bind(Step):
    """Bind: anonymously, simply with a DN and a password, or by a SASL mechanism."""

    op = "bind"
    dn: str = ""
    password: str = dataclasses.field(default="", repr=False)
    version: int = 3
    name: str = ""
    sasl: str | None = None


@frozen
class Unbind(Step):
    """Say goodbye and close the connection."""

    op = "unbind"
    name: str = ""


@frozen
class Repeat(Step):
    """Do the steps a number of times."""

    op = "repeat"
    times: int
    steps: tuple[Step, ...]


@frozen
class Think(Step):
    """Do nothing for a while, as people do."""

    op = "think"
    mean_ms: float
    distribution: str = "exponential"


@frozen
class Lookup(Step):
    """Find one person by name, all attributes unless some are named.

    `person` is `random`, `current` (the person of this lane's last step), `new`, or `own`: this
    user, one of the directory's people whom each lane is from its beginning to its end. With
    `refresh_minutes` the search also keeps that person online, as ILS clients do it.
    """

    op = "lookup"
    person: str = "random"
    attributes: tuple[str, ...] = ()
    refresh_minutes: int | None = None
    name: str = ""


@frozen
class Add(Step):
    """Enter a person who is not there yet."""

    op = "add"
    person: str = "new"
    name: str = ""


@frozen
class Delete(Step):
    """Remove a person."""

    op = "delete"
    person: str = "current"
    name: str = ""


@frozen
class Change:
    """One change of a Modify: add, delete, replace or increment (RFC 4525)."""

    op: str
    attribute: str
    values: tuple[str, ...] = ()


@frozen
class Modify(Step):
    """Change a person's attributes."""

    op = "modify"
    changes: tuple[Change, ...]
    person: str = "current"
    name: str = ""


@frozen
class Refresh(Step):
    """Keep a person online with RFC 2589's extended operation."""

    op = "refresh"
    ttl_s: int = _ONLINE_MINUTES * 60
    person: str = "current"
    name: str = ""


@frozen
class Compare(Step):
    """Ask whether a person has the value the population says."""

    op = "compare"
    attribute: str = "cn"
    person: str = "random"
    name: str = ""


@frozen
class Retrieve(Step):
    """List everyone, as far as the server's size limit or ours goes."""

    op = "retrieve"
    attributes: tuple[str, ...] = ("cn",)
    size_limit: int = 0
    name: str = ""


@frozen
class Search(Step):
    """Any search; the base is the target's unless given."""

    op = "search"
    filter: str = "(objectClass=*)"
    base: str = ""
    scope: str = "sub"
    attributes: tuple[str, ...] = ()
    expect_entries: int | None = None
    name: str = ""


@frozen
class Sequence:
    """A named list of steps, and which of them counts as an operation."""

    name: str
    steps: tuple[Step, ...]
    counts: str = "sequence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        known = {step.label for step in walk(self.steps)} | {"sequence"}
        if self.counts not in known:
            raise BadSequence(
                f"sequence {self.name!r} counts {self.counts!r}, which is not one of its steps",
                f"let it count one of {', '.join(sorted(known))}",
            )

    def to_program(self) -> dict[str, Any]:
        """Return the sequence as the engine reads it."""
        steps = [step.to_program() for step in self.steps]
        return {"name": self.name, "counts": self.counts, "steps": steps}

    @property
    def writes(self) -> bool:
        """Whether a run of it may change the target: what it holds, or for how long."""
        return any(_writes(step) for step in walk(self.steps))

    @property
    def counted(self) -> tuple[tuple[str, str], ...]:
        """The row that is the total."""
        return ((self.name, self.counts),)

    @property
    def needs_base(self) -> bool:
        """Whether it asks for more than a connection and an identity."""
        plain = (Connect, Bind, Unbind, Repeat, Think)
        return not all(isinstance(step, plain) for step in walk(self.steps))

    @property
    def by_dn(self) -> bool:
        """Whether any step names people by their DN."""
        return any(isinstance(s, (Compare, Delete, Modify, Refresh)) for s in walk(self.steps))

    @property
    def needs_people(self) -> bool:
        """Whether it asks for people of the directory, and not only for those that it enters."""
        chosen = {getattr(step, "person", "") for step in walk(self.steps)}
        listed = any(isinstance(step, Retrieve) for step in walk(self.steps))
        return (
            listed or bool({"random", "own"} & chosen) or ("current" in chosen and not self.adding)
        )

    @property
    def adding(self) -> frozenset[tuple[str, str]]:
        """Rows of the steps that enter people."""
        found = (step.label for step in walk(self.steps) if isinstance(step, Add))
        return frozenset((self.name, label) for label in found)

    @property
    def removing(self) -> frozenset[tuple[str, str]]:
        """Rows of the steps that take people away, once the ring of the added is full too."""
        found = (step.label for step in walk(self.steps) if isinstance(step, Delete))
        return frozenset((self.name, label) for label in (REMOVE, *found))

    @property
    def removes(self) -> bool:
        """Whether a run of it also takes people away by a step of its own."""
        return any(isinstance(step, Delete) for step in walk(self.steps))

    @property
    def least_s(self) -> float:
        """How long a pass takes at least: its think times of a constant length."""
        return _least_ms(self.steps) / 1e3

    def thinking(self, mean_s: float) -> Sequence:
        """Return the sequence with a think time after each operation it counts."""
        if mean_s <= 0:
            return self
        pause = Think(mean_s * 1e3)
        if self.counts == "sequence":
            return dataclasses.replace(self, steps=(*self.steps, pause))
        return dataclasses.replace(self, steps=_paused(self.steps, self.counts, pause))


def _least_ms(steps: tuple[Step, ...]) -> float:
    return sum(
        each.times * _least_ms(each.steps)
        if isinstance(each, Repeat)
        else each.mean_ms
        if isinstance(each, Think) and each.distribution == "constant"
        else 0.0
        for each in steps
    )


def walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield every step, those inside repetitions too."""
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            yield from walk(step.steps)


_READING = (Connect, Bind, Unbind, Repeat, Think, Compare, Retrieve)
"""Steps that change nothing, however they are filled in; no other is taken for one."""


def _writes(step: Step) -> bool:
    if isinstance(step, Lookup):
        return step.refresh_minutes is not None
    if isinstance(step, Search):
        # An ILS keeps the people online that such a filter finds.
        return "sttl" in step.filter.lower()
    return not isinstance(step, _READING)


def _paused(steps: tuple[Step, ...], label: str, pause: Think) -> tuple[Step, ...]:
    paused: list[Step] = []
    for step in steps:
        if isinstance(step, Repeat):
            paused.append(dataclasses.replace(step, steps=_paused(step.steps, label, pause)))
        else:
            paused += [step, pause] if step.label == label else [step]
    return tuple(paused)


def built_in(operation: str, profile: str = "paper", session_s: float = 1200.0) -> Sequence:
    """Return the sequence of one of the suite's own operations: what its file says."""
    if operation == "register" and profile_facts(profile)[2]:
        raise BadInput(
            f"people of the profile {profile} do not register with an Internet Locator Server",
            "measure add, or name people who do: --profile paper",
        )
    spec = {
        "name": operation,
        "text": text_of(operation, profile),
        "session_ms": session_s * 1e3,
    }
    whole = check_scenario(json.dumps(spec), {})
    assert whole is not None, operation
    program = json.loads(whole[1] or "")
    return Sequence(operation, tuple(map(_step, program["steps"])), program["counts"])


def text_of(operation: str, profile: str = "paper") -> str:
    """Return the file of one of the suite's own operations, for people of this profile."""
    own = _FILES / f"{operation}-{profile}.toml"
    text = (own if own.exists() else _FILES / f"{operation}.toml").read_text(encoding="utf-8")
    kind, naming, _ = profile_facts(profile)
    text = text.replace("(objectClass=RTPerson)", f"(objectClass={kind})")
    return _BY_NAME.sub(rf"({naming}={{\1.{naming}}})", text)


_FILES = Path(__file__).parent / "scenarios"
_BY_NAME = re.compile(r"\(cn=\{(\w+)\.cn\}\)")
"""How the papers' people are looked up."""
_KINDS: dict[str, type[Step]] = {each.op: each for each in Step.__subclasses__()}


def _step(found: dict[str, Any]) -> Step:
    """Return a step of a program; the inverse of `to_program`."""
    op, name = found.pop("op"), found.pop("name", "")
    values = {key: _made(key, value) for key, value in found.items() if value is not None}
    if name not in ("", op):
        values["name"] = name
    return _KINDS[op](**values)


def _made(key: str, value: Any) -> Any:
    if key == "steps":
        return tuple(map(_step, value))
    if key == "changes":
        return tuple(Change(each["op"], each["attribute"], tuple(each["values"])) for each in value)
    return tuple(value) if isinstance(value, list) else value


CONNECT, ADD, LOOKUP, RETRIEVE = map(built_in, ("connect", "add", "lookup", "retrieve"))
