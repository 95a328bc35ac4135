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

The paper's sequences are those of its Tables 2 and 3 (pages 8 and 9).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from sitebench.errors import BadInput

PER_CONNECTION = 100
"""Adds or lookups between a bind and its unbind (Table 2)."""

_ANNOUNCED = {
    "sappid": ("ms-netmeeting",),
    "smimetype": ("text/iuls",),
    "sappguid": ("008aff194794cf118796444553540000",),
    "sprotid": ("T120", "H323"),
    "sport": ("1503", "1720"),
}
"""What NetMeeting says of itself once it is registered (MS-TAIL)."""

_ONLINE_MINUTES = 10
"""How long a search with sttl keeps a user online: what NetMeeting asks for."""


class BadSequence(BadInput):
    """A sequence that no lane could run."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Connect(Step):
    """Open a TCP connection."""

    op = "connect"
    name: str = ""


@dataclass(frozen=True)
class Bind(Step):
    """Bind: anonymously, simply with a DN and a password, or by a SASL mechanism."""

    op = "bind"
    dn: str = ""
    password: str = dataclasses.field(default="", repr=False)
    version: int = 3
    name: str = ""
    sasl: str | None = None


@dataclass(frozen=True)
class Unbind(Step):
    """Say goodbye and close the connection."""

    op = "unbind"
    name: str = ""


@dataclass(frozen=True)
class Repeat(Step):
    """Do the steps a number of times."""

    op = "repeat"
    times: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Think(Step):
    """Do nothing for a while, as people do."""

    op = "think"
    mean_ms: float
    distribution: str = "exponential"


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Add(Step):
    """Enter a person who is not there yet."""

    op = "add"
    person: str = "new"
    name: str = ""


@dataclass(frozen=True)
class Delete(Step):
    """Remove a person."""

    op = "delete"
    person: str = "current"
    name: str = ""


@dataclass(frozen=True)
class Change:
    """One change of a Modify: add, delete, replace or increment (RFC 4525)."""

    op: str
    attribute: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Modify(Step):
    """Change a person's attributes."""

    op = "modify"
    changes: tuple[Change, ...]
    person: str = "current"
    name: str = ""


@dataclass(frozen=True)
class Refresh(Step):
    """Keep a person online with RFC 2589's extended operation."""

    op = "refresh"
    ttl_s: int = _ONLINE_MINUTES * 60
    person: str = "current"
    name: str = ""


@dataclass(frozen=True)
class Compare(Step):
    """Ask whether a person has the value the population says."""

    op = "compare"
    attribute: str = "cn"
    person: str = "random"
    name: str = ""


@dataclass(frozen=True)
class Retrieve(Step):
    """List everyone, as far as the server's size limit or ours goes."""

    op = "retrieve"
    attributes: tuple[str, ...] = ("cn",)
    size_limit: int = 0
    name: str = ""


@dataclass(frozen=True)
class Search(Step):
    """Any search; the base is the target's unless given."""

    op = "search"
    filter: str = "(objectClass=*)"
    base: str = ""
    scope: str = "sub"
    attributes: tuple[str, ...] = ()
    expect_entries: int | None = None
    name: str = ""


@dataclass(frozen=True)
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
    def adding(self) -> frozenset[str]:
        """Labels of the steps that enter people."""
        return frozenset(step.label for step in walk(self.steps) if isinstance(step, Add))

    @property
    def removing(self) -> frozenset[str]:
        """Labels of the steps that take people away, once the ring of the added is full too."""
        found = (step.label for step in walk(self.steps) if isinstance(step, Delete))
        return frozenset(("remove", *found))

    @property
    def removes(self) -> bool:
        """Whether a run of it also takes people away by a step of its own."""
        return any(isinstance(step, Delete) for step in walk(self.steps))

    @property
    def least_s(self) -> float:
        """How long a pass takes at least: its think times of a constant length."""
        thinks = (each for each in self.steps if isinstance(each, Think))
        return sum(each.mean_ms for each in thinks if each.distribution == "constant") / 1e3

    def thinking(self, mean_s: float) -> Sequence:
        """Return the sequence with a think time after each operation it counts."""
        if mean_s <= 0:
            return self
        pause = Think(mean_s * 1e3)
        if self.counts == "sequence":
            return dataclasses.replace(self, steps=(*self.steps, pause))
        return dataclasses.replace(self, steps=_paused(self.steps, self.counts, pause))


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


def _session(name: str, steps: tuple[Step, ...], counts: str) -> Sequence:
    return Sequence(name, (Connect(), Bind(), *steps, Unbind()), counts)


CONNECT = _session("connect", (), "sequence")
ADD = _session("add", (Repeat(PER_CONNECTION, (Add(),)),), "add")
LOOKUP = _session("lookup", (Repeat(PER_CONNECTION, (Lookup(),)),), "lookup")
RETRIEVE = _session("retrieve", (Retrieve(),), "retrieve")


def register(profile: str) -> Sequence:
    """Return the life of an online user: register, announce an application, stay online, leave.

    In the `ils` profile the words are NetMeeting's: smodop 0 announces, and a search with sttl
    keeps the user online; plain LDAP has neither, so there the same steps go without.
    """
    ils = profile == "ils"
    announced = [Change("replace", name, values) for name, values in _ANNOUNCED.items()]
    operation = [Change("replace", "smodop", ("0",))] if ils else []
    steps = (
        Add(name="register"),
        Modify((*operation, *announced), name="announce"),
        # Only the name: what was announced is no part of the person that the population knows.
        Lookup("current", ("cn",), _ONLINE_MINUTES if ils else None, name="refresh"),
        Delete(name="leave"),
    )
    return _session("register", steps, "sequence")


def ils_user(session_s: float, profile: str = "paper") -> Sequence:
    """Return Table 3's nine steps, with think times that fill a session: a pass is one user's.

    This user is one of those who are registered, and the last two lookups are of it. They stand at
    the middle and at the end of the session: every ten minutes of twenty, as the workbook's note on
    refreshes says (Appendix A). In the `ils` profile they have an sttl, which keeps it online.
    """
    glance, half = Think(session_s * 1e3 / 10, "constant"), Think(session_s * 1e3 / 2, "constant")
    minutes = _ONLINE_MINUTES if profile == "ils" else None
    keep_online = Lookup("own", refresh_minutes=minutes, name="keep-online")
    looks: tuple[Step, ...] = (Lookup(), glance) * 4
    steps = (Retrieve(), glance, *looks, keep_online, half, keep_online)
    return _session("ils-user", steps, "sequence")


def built_in(operation: str, profile: str, session_s: float) -> Sequence:
    """Return the sequence of one of the suite's own operations."""
    if operation == "register":
        return register(profile)
    if operation == "ils-user":
        return ils_user(session_s, profile)
    return {each.name: each for each in (CONNECT, ADD, LOOKUP, RETRIEVE)}[operation]
