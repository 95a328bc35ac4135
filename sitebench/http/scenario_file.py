"""Scenarios of any site, in TOML.

    [headers]                       # sent with every request
    Cookie = "user={id}"

    [[operation]]
    name = "page"
    share = 91                      # cards of it in the deck
    page = true                     # counts as a web page

    [[operation.request]]
    path = "/"
    expect.status = 200
    expect.contains = ["<h1>Hello, {given}</h1>"]
    expect.identity = { before = 'data-user="', value = "{id}", until = '"' }

`{env.NAME}` in any of these texts is the variable of that name. The file is kept in the run
file, for readers of the results; passwords stay in the environment, and headers for credentials
accept nothing else.

Everything that a file may say is in docs/scenarios.md. It is read before anything starts; a message
about an error has its line and column.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitebench.errors import BadFile
from sitebench.http.scenario import (
    DOES,
    FIELDS,
    FOR_CREDENTIALS,
    MATCHES,
    METHODS,
    PERSONS,
    BadScenario,
    Capture,
    Expect,
    Identity,
    Operation,
    Request,
    Scenario,
    fields_in,
)
from sitebench.http.toml_places import place

_WHERE = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$")
_VARIABLE = re.compile(r"\{env\.([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = "scenario"
"""What a scenario from a file is called in results."""

_Key = tuple[str | int, ...]


class BadScenarioFile(BadFile):
    """A scenario file with an error; the message names its line and column."""


@dataclass(frozen=True)
class _Error(Exception):
    """What is wrong, and at which key."""

    key: _Key
    what: str
    remedy: str


_RECEIVED: dict[str, str] = {}
"""Texts of the master's files, by their names there, in a worker."""


def receive(path: str, text: str) -> None:
    """Use a master's text for the file of this name: this machine may have none, or another one."""
    _RECEIVED[path] = text


def read(path: Path | str) -> Scenario:
    return parse(text_of(path), str(path))


def text_of(path: Path | str) -> str:
    """Return a file's text, as the master has it."""
    try:
        return _RECEIVED.get(str(path)) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadScenarioFile(
            f"cannot read the scenario {path}: {why}", "name a readable TOML file"
        ) from error


def parse(text: str, name: str) -> Scenario:
    """Return the scenario of a text; `name` is for errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _WHERE.match(str(error))
        what, at = (
            (where[1], f"line {where[2]}, column {where[3]}") if where else (error, "its end")
        )
        raise BadScenarioFile(f"{name}, {at}: {what}", "write it as TOML has it") from error
    except RecursionError:
        raise BadScenarioFile(f"{name}: nested too deep", "write it flatter") from None
    try:
        return _scenario(document)
    except _Error as error:
        line, column = place(text, error.key)
        raise BadScenarioFile(
            f"{name}, line {line}, column {column}: {error.what}", error.remedy
        ) from None
    except BadScenario as error:
        raise BadScenarioFile(f"{name}: {error.message}", error.remedy) from error


class _Table:
    """A table of the document, read field by field; unknown fields are refused first."""

    def __init__(self, found: Any, key: _Key, *known: str) -> None:
        if not isinstance(found, Mapping):
            raise _Error(key, f"{key[-1]!r} is not a table", "write [table] or { inline = 1 }")
        for name in found:
            if name not in known:
                remedy = f"known here: {', '.join(known)}"
                raise _Error((*key, name), f"unknown field {name!r}", remedy)
        self._found = found
        self._key = key

    def take(self, name: str, read: Callable[[Any, _Key], Any], default: Any = None) -> Any:
        """Read a field, or return the default when it is not there."""
        if name not in self._found:
            return default
        return read(self._found[name], (*self._key, name))

    def must(self, name: str, read: Callable[[Any, _Key], Any]) -> Any:
        """Read a field that has to be there."""
        if name not in self._found:
            raise _Error(self._key, f"{name!r} is missing here", f"add {name} = ...")
        return self.take(name, read)


def _names(cls: type[Any]) -> list[str]:
    return [each.name for each in dataclasses.fields(cls)]


def _scenario(document: Mapping[str, Any]) -> Scenario:
    table = _Table(document, (), "headers", "operation")
    shared = table.take("headers", _headers, ())
    operations = table.must("operation", _each(lambda found, key: _operation(found, key, shared)))
    return Scenario(_NAME, operations)


def _operation(found: Any, key: _Key, shared: tuple[tuple[str, str], ...]) -> Operation:
    table = _Table(found, key, "name", "share", "page", "counts", "request")
    name = table.must("name", _text)
    share = table.take("share", _number, 1)
    page = table.take("page", _flag, False)
    counts = table.take("counts", _text, "")
    requests: tuple[Request, ...] = table.must("request", _requests)
    if share < 1:
        raise _Error((*key, "share"), "a share below 1", "leave the operation out instead")
    named = tuple(
        dataclasses.replace(
            each,
            name=each.name or (name if n == 0 else f"{name} {n + 1}"),
            headers=(*(pair for pair in shared if not _has(each.headers, pair[0])), *each.headers),
        )
        for n, each in enumerate(requests)
    )
    return Operation(name, share, named, counts, page)


def _has(headers: tuple[tuple[str, str], ...], name: str) -> bool:
    return any(known.lower() == name.lower() for known, _ in headers)


def _requests(found: Any, key: _Key) -> tuple[Request, ...]:
    """Read an operation's requests; by default those that only read concern the first's person."""
    return _each(lambda each, at: _request(each, at, "current" if at[-1] else ""))(found, key)


def _request(found: Any, key: _Key, about: str) -> Request:
    table = _Table(found, key, *_names(Request))
    does = table.take("does", _one_of(DOES), "read")
    return Request(
        name=table.take("name", _text, ""),
        path=table.take("path", _template, "/"),
        method=table.take("method", _one_of(METHODS), "GET"),
        person=table.take("person", _one_of(PERSONS), about if does == "read" else ""),
        does=does,
        headers=table.take("headers", _headers, ()),
        body=table.take("body", _template, ""),
        content_type=table.take("content_type", _text, ""),
        match=table.take("match", _one_of(MATCHES), "html"),
        expect=table.take("expect", _expect, Expect()),
        capture=table.take("capture", _capture),
    )


def _expect(found: Any, key: _Key) -> Expect:
    table = _Table(found, key, *_names(Expect))
    return Expect(
        status=table.take("status", _statuses, (200,)),
        length=table.take("length", _number),
        contains=table.take("contains", _templates, ()),
        identity=table.take("identity", _identity),
        fresh=table.take("fresh", _templates, ()),
    )


def _identity(found: Any, key: _Key) -> Identity:
    table = _Table(found, key, *_names(Identity))
    return Identity(
        table.must("before", _text), table.must("value", _template), table.must("until", _text)
    )


def _capture(found: Any, key: _Key) -> Capture:
    table = _Table(found, key, *_names(Capture))
    capture = Capture(
        table.take("cookie", _text, ""),
        table.take("before", _text, ""),
        table.take("until", _text, ""),
    )
    if bool(capture.cookie) == bool(capture.before and capture.until):
        raise _Error(
            key, "a capture of nothing, or of two things", "give cookie, or before and until"
        )
    return capture


def _headers(found: Any, key: _Key) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, Mapping):
        raise _Error(key, "headers must be a table", 'write headers = { Name = "value" }')
    for name, value in found.items():
        if name.lower() in FOR_CREDENTIALS and not _VARIABLE.search(_text(value, (*key, name))):
            raise _Error(
                (*key, name),
                f"{name!r} holds credentials, and this file goes into the run file",
                'write "{env.NAME}" and set that variable to them',
            )
    return tuple((name, _template(value, (*key, name))) for name, value in found.items())


def _each(read: Callable[[Any, _Key], Any]) -> Callable[[Any, _Key], tuple[Any, ...]]:
    def reader(found: Any, key: _Key) -> tuple[Any, ...]:
        if not isinstance(found, list) or not found:
            raise _Error(key, f"{key[-1]!r} is not a list of tables", f"write [[{key[-1]}]]")
        return tuple(read(each, (*key, n)) for n, each in enumerate(found))

    return reader


def _text(found: Any, key: _Key) -> str:
    if not isinstance(found, str):
        raise _Error(key, f"{key[-1]!r} is not text", "put it in quotes")
    return found


def _template(found: Any, key: _Key) -> str:
    text = _VARIABLE.sub(lambda match: _variable(match[1], key), _text(found, key))
    for name in fields_in(text):
        if name not in FIELDS:
            raise _Error(
                key, f"a template names {{{name}}}, which is unknown", f"known: {', '.join(FIELDS)}"
            )
    return text


def _variable(name: str, key: _Key) -> str:
    value = os.environ.get(name)
    if value is None:
        raise _Error(key, f"the environment has no variable {name}", f"set {name}")
    if not value.isprintable() or any(fields_in(value)):
        raise _Error(
            key,
            f"the variable {name} holds what a template cannot",
            "leave out braces and newlines",
        )
    return value


def _templates(found: Any, key: _Key) -> tuple[str, ...]:
    if isinstance(found, str):
        return (_template(found, key),)
    if not isinstance(found, list):
        raise _Error(key, f"{key[-1]!r} is not text or a list of texts", 'write ["one", "two"]')
    return tuple(_template(each, (*key, n)) for n, each in enumerate(found))


def _number(found: Any, key: _Key) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise _Error(key, f"{key[-1]!r} is not a whole number from 0 on", "write digits")
    return found


def _statuses(found: Any, key: _Key) -> tuple[int, ...]:
    listed = found if isinstance(found, list) else [found]
    return tuple(_number(each, key) for each in listed)


def _flag(found: Any, key: _Key) -> bool:
    if not isinstance(found, bool):
        raise _Error(key, f"{key[-1]!r} is neither true nor false", "write true or false")
    return found


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any, _Key], str]:
    def reader(found: Any, key: _Key) -> str:
        if found not in allowed:
            raise _Error(key, f"{key[-1]!r} is {found!r}", f"use one of {', '.join(allowed)}")
        return str(found)

    return reader
