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

Everything that a file may say is in docs/site-scenarios.md. It is read before anything starts; a
message about an error has its line and column.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitebench.errors import BadFile
from sitebench.http import toml_file
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
from sitebench.http.toml_file import Key, TomlError, TomlTable, flag, list_of, number, one_of, text
from sitebench.system.texts import read_text

_VARIABLE = re.compile(r"\{env\.([A-Za-z_][A-Za-z0-9_]*)\}")
_BLANK = re.compile(r"[\x00-\x20\x7f]")
_NAME = "scenario"
"""What a scenario from a file is called in results."""


class BadScenarioFile(BadFile):
    """A scenario file with an error; the message names its line and column."""


def read(path: Path | str) -> Scenario:
    return parse(read_text(path, "the scenario", BadScenarioFile), str(path))


def variables(path: Path | str) -> list[str]:
    """Return the names of the environment's variables that a scenario sends to its target."""
    return sorted(set(_VARIABLE.findall(read_text(path, "the scenario", BadScenarioFile))))


def parse(content: str, name: str) -> Scenario:
    """Return the scenario of a text; `name` is for errors."""
    try:
        return toml_file.read(content, name, _scenario, BadScenarioFile)
    except BadScenario as error:
        raise BadScenarioFile(f"{name}: {error.message}", error.remedy) from error


def _names(cls: type[Any]) -> list[str]:
    return [each.name for each in dataclasses.fields(cls)]


def _scenario(document: Mapping[str, Any]) -> Scenario:
    table = TomlTable(document, (), "headers", "operation")
    shared = table.take("headers", _headers, ())
    read = list_of(lambda found, key: _operation(found, key, shared), "[[operation]]")
    operations = table.must("operation", read)
    return Scenario(_NAME, operations)


def _operation(found: Any, key: Key, shared: tuple[tuple[str, str], ...]) -> Operation:
    table = TomlTable(found, key, "name", "share", "page", "counts", "request")
    name = table.must("name", text)
    share = table.take("share", number(1), 1)
    page = table.take("page", flag, False)
    counts = table.take("counts", text, "")
    requests: tuple[Request, ...] = table.must("request", _requests)
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


def _requests(found: Any, key: Key) -> tuple[Request, ...]:
    """Read an operation's requests; by default those that only read concern the first's person."""
    read = list_of(
        lambda each, at: _request(each, at, "current" if at[-1] else ""), "[[operation.request]]"
    )
    return read(found, key)


def _request(found: Any, key: Key, about: str) -> Request:
    table = TomlTable(found, key, *_names(Request))
    does = table.take("does", one_of(DOES), "read")
    return Request(
        name=table.take("name", text, ""),
        path=table.take("path", _path, "/"),
        method=table.take("method", one_of(METHODS), "GET"),
        person=table.take("person", one_of(PERSONS), about if does == "read" else ""),
        does=does,
        headers=table.take("headers", _headers, ()),
        body=table.take("body", _template, ""),
        content_type=table.take("content_type", text, ""),
        match=table.take("match", one_of(MATCHES), "html"),
        expect=table.take("expect", _expect, Expect()),
        capture=table.take("capture", _capture, None),
    )


def _path(found: Any, key: Key) -> str:
    path = _template(found, key)
    if not path.startswith("/") or _BLANK.search(path):
        raise TomlError(key, f"{path!r} is no path", "begin with /, and write %20 for a space")
    return path


def _expect(found: Any, key: Key) -> Expect:
    table = TomlTable(found, key, *_names(Expect))
    return Expect(
        status=table.take("status", _statuses, (200,)),
        length=table.take("length", number(0), None),
        contains=table.take("contains", _templates, ()),
        identity=table.take("identity", _identity, None),
        fresh=table.take("fresh", _templates, ()),
    )


def _identity(found: Any, key: Key) -> Identity:
    table = TomlTable(found, key, *_names(Identity))
    return Identity(
        table.must("before", text), table.must("value", _template), table.must("until", text)
    )


def _capture(found: Any, key: Key) -> Capture:
    table = TomlTable(found, key, *_names(Capture))
    capture = Capture(
        table.take("cookie", text, ""),
        table.take("before", text, ""),
        table.take("until", text, ""),
    )
    if bool(capture.cookie) == bool(capture.before and capture.until):
        raise TomlError(
            key, "a capture of nothing, or of two things", "give cookie, or before and until"
        )
    return capture


def _headers(found: Any, key: Key) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, Mapping):
        raise TomlError(key, "headers must be a table", 'write headers = { Name = "value" }')
    for name, value in found.items():
        if name.lower() in FOR_CREDENTIALS and not _VARIABLE.search(text(value, (*key, name))):
            raise TomlError(
                (*key, name),
                f"{name!r} holds credentials, and this file goes into the run file",
                'write "{env.NAME}" and set that variable to them',
            )
    headers = tuple((name, _template(value, (*key, name))) for name, value in found.items())
    for name, value in headers:
        # Not left to a client: a line end in one would begin another header, or a request.
        if not (name.isprintable() and value.replace("\t", " ").isprintable()):
            raise TomlError((*key, name), "a header holds a control character", "leave it out")
    return headers


def _template(found: Any, key: Key) -> str:
    template = _VARIABLE.sub(lambda match: _variable(match[1], key), text(found, key))
    for name in fields_in(template):
        if name not in FIELDS:
            raise TomlError(
                key, f"a template names {{{name}}}, which is unknown", f"known: {', '.join(FIELDS)}"
            )
    return template


def _variable(name: str, key: Key) -> str:
    value = os.environ.get(name)
    if value is None:
        raise TomlError(key, f"the environment has no variable {name}", f"set {name}")
    if not value.isprintable() or any(fields_in(value)):
        raise TomlError(
            key,
            f"the variable {name} holds what a template cannot",
            "leave out braces and newlines",
        )
    return value


def _templates(found: Any, key: Key) -> tuple[str, ...]:
    if isinstance(found, str):
        return (_template(found, key),)
    if not isinstance(found, list):
        raise TomlError(key, f"{key[-1]!r} is not text or a list of texts", 'write ["one", "two"]')
    return tuple(_template(each, (*key, n)) for n, each in enumerate(found))


def _statuses(found: Any, key: Key) -> tuple[int, ...]:
    listed = found if isinstance(found, list) else [found]
    return tuple(number(0)(each, key) for each in listed)
