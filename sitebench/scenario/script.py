"""A scenario file: its operations, its data, and its writes to the target.

`FILE.toml` names all operations of the file, and `FILE.toml:OPERATION` a single operation. The
engine's reader gives the facts that a command needs before the first request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import msgspec

from sitebench._engine import EngineError, Table, check_scenario
from sitebench._engine import Scenario as Read
from sitebench.counts.source import SEQUENCE
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadFile, BadInput, UnknownValue
from sitebench.system.native_errors import translated
from sitebench.system.texts import read_text

SUFFIX = ".toml"
SEEDED = "seeded"
"""Rows of data that are people of the target before a run."""
NOT_BEGUN = "not begun"
REMOVE = "remove"
"""The step that removes an added person, who is then added again."""
HTTP, LDAP = "http", "ldap"
_READING = frozenset(("get", "head", "file", "program"))
_BY_DN = frozenset(("bind", "compare", "modify", "modify_dn", "delete", "refresh"))


class Operation(msgspec.Struct, frozen=True):
    name: str
    weight: int
    counts: str
    """The step that is counted, or `sequence`."""
    steps: tuple[tuple[str, str], ...]
    """The steps that send requests to the target, each with its verb."""
    writes: bool
    overwrites: bool
    """Whether the operation changes entries that it has not added."""
    keeps: tuple[str, ...]
    adding: tuple[str, ...] = ()
    removing: tuple[str, ...] = ()
    """Steps that delete people whom `adding` steps added."""
    page: bool = False
    objective: str | None = None

    @property
    def changing(self) -> tuple[str, ...]:
        return tuple(name for name, verb in self.steps if verb not in _READING)


class Pool(msgspec.Struct, frozen=True):
    """Connections that all users share, and the rows of the steps that use them."""

    name: str
    places: int
    """Largest number of requests in flight: `pool` times `outstanding`."""
    rows: tuple[tuple[str, str], ...]


class Needed(msgspec.Struct, frozen=True):
    name: str
    oid: str
    line: int


@dataclass(frozen=True)
class Script:
    name: str
    path: str
    only: str | None
    protocol: str
    text: str = field(repr=False)
    needs_base: bool
    """Whether requests use a base, which then has to exist in the target."""
    operations: tuple[Operation, ...]
    start: Mapping[str, Any] = field(repr=False)
    """Facts about `[start]`, whose steps a user does once."""
    per_user: Mapping[str, int]
    """For data of which each user has its own row: the number of rows, by the name of the data."""
    env: tuple[str, ...]
    tables: Mapping[str, Table] = field(repr=False)
    digests: Mapping[str, str]
    """Digests of the data without secrets."""
    load: Mapping[str, Any]
    """Defaults of load and base; the command line can replace them."""
    needs_people: bool = False
    counts: str | None = None
    """The counted step, if the file's only operation is an operation of the papers."""
    needed: tuple[Needed, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    keeps_alive: bool = True
    """Whether a user's connection serves more than one request."""
    by_class: bool = False
    """Whether operations of one request are classes of requests, in rows named after the script."""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    least_s: float = 0.0
    """Sum of the constant think times in a directory's operation, if `counts` is set."""
    own_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables in place of this process's own."""
    think_s: float = 0.0
    pauses: bool = True

    @property
    def adding(self) -> frozenset[tuple[str, str]]:
        return frozenset((row, step) for row, operation in self._rows for step in operation.adding)

    @property
    def removing(self) -> frozenset[tuple[str, str]]:
        """Rows of steps that remove people, including people who are added again."""
        rows = ((row, step) for row, operation in self._rows for step in operation.removing)
        return frozenset((*rows, *((row, REMOVE) for row, op in self._rows if op.adding)))

    @property
    def removes(self) -> bool:
        return any(operation.removing for operation in self.operations)

    @property
    def by_dn(self) -> bool:
        verbs = {verb for operation in self.operations for _, verb in operation.steps}
        return self.needs_people and bool(verbs & _BY_DN)

    @property
    def _rows(self) -> Iterator[tuple[str, Operation]]:
        for operation in self.operations:
            yield self.name if self.counts is not None else operation.name, operation

    @property
    def writes(self) -> bool:
        return self.start["writes"] or any(operation.writes for operation in self.operations)

    @property
    def overwrites(self) -> bool:
        return self.start["overwrites"] or any(op.overwrites for op in self.operations)

    @property
    def keeps(self) -> Sequence[str]:
        groups = (self.start["keeps"], *(operation.keeps for operation in self.operations))
        return sorted({name for names in groups for name in names})

    @property
    def changed_rows(self) -> int:
        """The number of rows that name changed entries; each file counts once."""
        names = {operation.name for operation in self.operations}
        matches = [fact for fact in self.facts["operations"] if fact["name"] in names]
        data = {name for fact in (self.start, *matches) for name in fact["changes"]}
        rows = {self.digests[name]: self.tables[name].rows for name in data & self.tables.keys()}
        return sum(rows.values())

    @property
    def counted_rows(self) -> Sequence[tuple[str, str]]:
        """Rows whose sum is the total, including the row of arrivals that no user began."""
        if self.counts is not None:
            return [(self.name, self.counts)]
        return [(self.name, NOT_BEGUN), *((op.name, op.counts) for op in self.operations)]

    @property
    def objectives(self) -> Iterator[tuple[str, str, float]]:
        """Yield rows with their objectives and their shares of all operations."""
        weights = sum(operation.weight for operation in self.operations)
        for row, operation in self._rows:
            if operation.objective is not None:
                yield row, operation.objective, operation.weight / weights

    def thinking(self, mean_s: float) -> Self:
        return replace(self, think_s=mean_s)

    def spec(self, slot: WorkerSlot) -> dict[str, Any]:
        return {
            **self.checked_spec(self.secrets),
            "think_ms": self.think_s * 1e3,
            "session_ms": None if self.pauses else 0.0,
            "worker": slot.index,
            "of": slot.count,
        }

    def checked_spec(self, env: Mapping[str, str]) -> dict[str, Any]:
        """Return the part of the engine's specification that `check_scenario` reads."""
        return {
            "name": self.name,
            "text": self.text,
            "operation": self.only,
            "env": dict(env),
            "files": in_base64(self.contents),
            "classes": self.by_class,
        }

    @property
    def own_tables(self) -> Mapping[str, Table]:
        return {f"{self.name}/{name}": table for name, table in self.tables.items()}

    @property
    def pools(self) -> Sequence[Pool]:
        steps = {fact["name"]: fact["steps"] for fact in self.facts["operations"]}
        return [
            Pool(
                connection["name"],
                connection["places"],
                tuple(
                    (row, step["name"])
                    for row, operation in self._rows
                    for step in steps[operation.name]
                    if step["on"] == connection["name"]
                ),
            )
            for connection in self.facts["connections"]
            if connection["places"] is not None
        ]

    @property
    def verbs(self) -> frozenset[str]:
        return frozenset(verb for operation in self.operations for _, verb in operation.steps)

    @property
    def connects(self) -> Sequence[tuple[str, str]]:
        opened = [f"{connection['name']}: connect" for connection in self.facts["connections"]]
        rows = [self.name, *(operation.name for operation in self.operations)]
        return [(row, step) for row in dict.fromkeys(rows) for step in opened]

    @property
    def secrets(self) -> Mapping[str, str]:
        """The environment variables that the script sends; raise if one is not set."""
        environment = self.own_env or os.environ
        if missing := [name for name in self.env if name not in environment]:
            variables = ", ".join(f"${name}" for name in missing)
            raise BadInput(
                f"{self.path} takes {variables} from the environment, which lacks them", "set it"
            )
        return {name: environment[name] for name in self.env}


class ScenarioFile(str):
    """`FILE.toml` or `FILE.toml:OPERATION`; the file is read once, even if it changes later."""

    __slots__ = ("scripts",)

    scripts: dict[tuple[Any, ...], Script]
    """Scripts by the arguments of `read`."""

    def __new__(cls, name: str) -> Self:
        file = super().__new__(cls, name)
        file.scripts = {}
        return file

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Pickle the name without scripts; the receiving process reads the scenario again."""
        return type(self), (str(self),)


def is_script(text: str) -> bool:
    return SUFFIX in text and split(text)[0].endswith(SUFFIX)


def split(source: str) -> tuple[str, str | None]:
    """Return the file of `FILE.toml:OPERATION`, and the operation if one is named."""
    source = str(source)
    if source.endswith(SUFFIX):
        return source, None
    path, separator, only = source.rpartition(SUFFIX + ":")
    return (path + SUFFIX, only) if separator and only else (source, None)


def name_of(source: str) -> str:
    """Return the name in results: of the operation, or of the file without its extension."""
    path, only = split(source)
    return only or Path(path).stem


def read(source: str, data: Mapping[str, str] | None = None, *, by_class: bool = False) -> Script:
    """Read a scenario file and its data.

    Data files lie in the scenario's folder; `data` has files of the command line to read instead.
    With `by_class`, operations of a single request are classes of requests.
    """
    scripts = source.scripts if isinstance(source, ScenarioFile) else {}
    key = (*sorted((data or {}).items()), by_class)
    if key not in scripts:
        scripts[key] = _read_script(source, data or {}, by_class=by_class)
    return scripts[key]


def _read_script(source: str, data: Mapping[str, str], *, by_class: bool) -> Script:
    path, only = split(source)
    if not path.endswith(SUFFIX):
        raise UnknownValue(
            f"{source!r} is not the name of a TOML file", "name a file such as mix.toml"
        )
    text = read_text(path, "the scenario", BadFile)
    script = name_of(source)
    return _script(script, path, only, text, data, by_class=by_class, strange=True)


def entrusts(source: str) -> bool:
    """Return whether a scenario file sends contents of other files or of environment variables."""
    try:
        facts = _facts_of(source)
    except BadFile:
        return True
    files = any(operation["file"] is not None for operation in facts["data"])
    return bool(files or facts["value_files"] or facts["env"])


def asked_by(source: str) -> tuple[str, frozenset[str]]:
    """Return a scenario file's protocol and verbs, even if the file has mistakes."""
    facts = _facts_of(source)
    steps = [step for op in (facts["start"], *facts["operations"]) for step in op["steps"]]
    return facts["protocol"], frozenset(step["verb"] for step in steps)


def _facts_of(source: str) -> dict[str, Any]:
    path, _ = split(source)
    return _facts(path, read_text(path, "the scenario", BadFile), {})


def from_text(
    name: str, text: str, *, by_class: bool = False, session_s: float | None = None
) -> Script:
    """Return a scenario from a text, whose data files lie in the current folder."""
    return _script(name, name, None, text, {}, by_class=by_class, session_s=session_s)


def alone(script: Script, operation: Operation) -> Script:
    """Return the script with a single operation, which is counted under its own name."""
    lone = replace(script, only=operation.name, operations=(operation,), by_class=False)
    return replace(lone, counts=_check(lone))


def _script(
    name: str,
    path: str,
    only: str | None,
    text: str,
    data: Mapping[str, str],
    *,
    by_class: bool,
    strange: bool = False,
    session_s: float | None = None,
) -> Script:
    """Return the script of a text; if it is `strange`, refuse data files outside its folder."""
    facts = _facts(path, text, {})
    of_files = {fact["name"]: fact["file"] for fact in facts["data"] if fact["file"] is not None}
    of_files |= {fact["path"]: fact["path"] for fact in facts["value_files"]}
    if unknown := [key for key in data if key not in of_files]:
        raise UnknownValue(
            f"{path} has no data {unknown[0]!r} in a file",
            f"use one of {', '.join(of_files)}" if of_files else "leave --data out",
        )
    places = {key: Path(path).parent / file for key, file in of_files.items()}
    if strange:
        for key in of_files.keys() - data.keys():
            _check_beside(path, key, places[key])
    places |= {key: Path(file) for key, file in data.items()}
    tables = {
        fact["name"]: _table(places[fact["name"]], fact)
        for fact in facts["data"]
        if fact["file"] is not None
    }
    if tables:
        columns = {name: table.columns for name, table in tables.items()}
        facts = _facts(path, text, columns)
    load = facts["load"]
    contents = {fact["path"]: _content(places[fact["path"]]) for fact in facts["value_files"]}
    operations = [_operation(fact) for fact in facts["operations"]]
    if only is not None:
        matches = [operation for operation in operations if operation.name == only]
        if not matches:
            names = ", ".join(operation.name for operation in operations)
            raise UnknownValue(f"{path} has no operation {only!r}", f"use one of {names}")
        operations = matches
    base = facts["base"]
    of_environment = base is not None and "{" in base
    # On a site, a scenario needs people even if its data are only new people.
    people = (SEEDED, "new") if facts["protocol"] == HTTP else (SEEDED,)
    script = Script(
        name,
        path,
        only,
        facts["protocol"],
        text,
        # People lie below the base, even if no search names the base.
        (facts["uses_base"] or any(fact["rows"] in (SEEDED, "new") for fact in facts["data"]))
        and not of_environment,
        tuple(operations),
        facts["start"],
        {
            fact["name"]: fact["count"] or tables[fact["name"]].rows
            for fact in facts["data"]
            if fact["per_user"] and fact["rows"] not in (SEEDED, "new")
        },
        tuple(facts["env"]),
        tables,
        {fact["name"]: _digest(fact, tables) for fact in facts["data"] if fact["name"] in tables}
        | {
            f"file {fact['path']}": hashlib.sha256(contents[fact["path"]]).hexdigest()
            for fact in facts["value_files"]
            if not fact["secret"]
        },
        {name: value for name, value in load.items() if value is not None}
        | ({} if base is None or of_environment else {"base": base}),
        any(fact["rows"] in people for fact in facts["data"]),
        needed=tuple(
            Needed(fact["name"], fact["oid"], fact["line"])
            for fact in facts["needed"]
            if only is None or fact["operation"] in (None, only)
        ),
        contents=contents,
        keeps_alive=not all(fact["per_step"] for fact in facts["connections"]),
        by_class=by_class,
        facts=facts,
    )
    counts, least_s = _check(script), 0.0
    if counts is not None and facts["protocol"] == LDAP:
        # A step that is the whole operation is counted under the operation's name.
        [lone] = operations
        [fact] = [row for row in facts["operations"] if row["name"] == lone.name]
        if fact["is_step"]:
            added, removed = ((lone.name,) * len(steps) for steps in (lone.adding, lone.removing))
            operations = [msgspec.structs.replace(lone, adding=added, removing=removed)]
        session, thinks_s = load["session"] if session_s is None else session_s, fact["thinks_s"]
        least_s = fact["thinks_at_least_s"]
        if session is not None and thinks_s:
            least_s *= session / thinks_s
    return replace(script, operations=tuple(operations), counts=counts, least_s=least_s)


def _check_beside(path: str, name: str, file: Path) -> None:
    whole = Path(os.path.realpath(file))
    if not whole.is_relative_to(os.path.realpath(Path(path).parent)):
        raise BadFile(
            f"{path}: {name!r} is in {whole}, outside the folder of the scenario",
            "a scenario from someone else must not send your files: to send this one, add --data "
            f"{name}={whole}",
        )


def _facts(path: str, text: str, columns: dict[str, list[str]]) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(Read(text, columns).facts)
    except EngineError as error:
        raise _bad_file(path, error) from None
    return facts


def _bad_file(path: str, error: EngineError) -> BadFile:
    first, *rest = str(error).splitlines()
    places = ", ".join(":".join(problem.split(":")[:2]) for problem in rest)
    message = f"{path}:{first}" + (f"; and at {places}" if places else "")
    return BadFile(message, "`sitebench docs scenarios` has the form")


def _check(script: Script) -> str | None:
    """Refuse a script that cannot run; return the value of its `counts`."""
    spec = script.checked_spec(dict.fromkeys(script.env, ""))
    try:
        return check_scenario(json.dumps(spec), {**script.own_tables})
    except EngineError as error:
        raise _bad_file(script.path, error) from None


def _operation(facts: Mapping[str, Any]) -> Operation:
    return Operation(
        facts["name"],
        facts["weight"],
        facts["counts"] or SEQUENCE,
        tuple((step["name"], step["verb"]) for step in facts["steps"]),
        facts["writes"],
        facts["overwrites"],
        tuple(facts["keeps"]),
        tuple(step["name"] for step in facts["steps"] if step["adds"]),
        tuple(step["name"] for step in facts["steps"] if step["removes"]),
        facts["page"],
        facts["objective"],
    )


def _table(path: Path, data: Mapping[str, Any]) -> Table:
    try:
        state = path.stat()
    except OSError as error:
        raise BadFile(
            f"cannot read {path}, the data {data['name']!r}: {error.strerror}",
            "put it beside the scenario file",
        ) from error
    columns = None if data["header"] else tuple(data["columns"] or ())
    return _read(str(path), data["separator"], columns, (state.st_mtime_ns, state.st_size))


MOST_BYTES = 16 << 20


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise BadFile(
            f"{path}, which is a value, is no regular file",
            "write the value into a regular file, as it is read more than once",
        )
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as error:
        raise BadFile(
            f"cannot read {path}, which is a value: {error.strerror}",
            "put it beside the scenario file",
        ) from error
    if len(content) == MOST_BYTES:
        raise BadFile(f"{path} has 16 MiB or more", "no server accepts a value of that size")
    return content


def in_base64(contents: Mapping[str, bytes]) -> Mapping[str, str]:
    return {path: base64.b64encode(content).decode() for path, content in contents.items()}


@lru_cache(maxsize=8)
def _read(
    path: str, separator: str, columns: tuple[str, ...] | None, state: tuple[int, int]
) -> Table:
    """Read a file; `state` is a key of the cache, so a changed file is read again."""
    with translated():
        return Table.read(path, separator, None if columns is None else list(columns))


SECRET = re.compile(r"pass|pwd|secret|token|(?<![a-z])(otp|pin|pw)(?![a-z])", re.IGNORECASE)
"""Names of columns that are not digested, because their values can be guessed from a digest."""


def _digest(data: Mapping[str, Any], tables: Mapping[str, Table]) -> str:
    table = tables[data["name"]]
    digest = hashlib.sha256(str(table.rows).encode())
    for column, name in enumerate(table.columns):
        hidden = name in data["secret"] or SECRET.search(name)
        if not hidden:
            digest.update(table.digest(name, column).encode())
    return digest.hexdigest()
