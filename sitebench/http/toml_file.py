"""TOML files that people write, read field by field.

An error is raised where it is found, with its key; `read` adds the name of the file, the line and
the column.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from sitebench.errors import BadFile
from sitebench.http.toml_places import place

Key = tuple[str | int, ...]
T = TypeVar("T")
D = TypeVar("D")

_WHERE = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True)
class TomlError(Exception):
    """What is wrong, and at which key."""

    key: Key
    what: str
    remedy: str


def read(text: str, name: str, make: Callable[[Mapping[str, Any]], T], error: type[BadFile]) -> T:
    """Make something of a TOML text; `name` is the file's, for errors."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        where = _WHERE.match(str(wrong))
        what, at = (
            (where[1], f"line {where[2]}, column {where[3]}")
            if where
            else (str(wrong).removesuffix(" (at end of document)"), "at its end")
        )
        raise error(f"{name}, {at}: {what}", "correct the TOML syntax") from wrong
    except RecursionError:
        raise error(f"{name}: nested too deep", "write fewer levels") from None
    try:
        return make(document)
    except TomlError as wrong:
        line, column = place(text, wrong.key)
        raise error(f"{name}, line {line}, column {column}: {wrong.what}", wrong.remedy) from None


def suggest(wanted: str, known: Collection[str]) -> str:
    """Return a remedy for an unknown name: the known one that is most like it, and all of them."""
    likely = get_close_matches(wanted, known, n=1)
    listed = f"known: {', '.join(known)}"
    return f"did you mean {likely[0]!r}? {listed}" if likely else listed


class TomlTable:
    """A table of the document, read field by field; unknown keys are refused first."""

    def __init__(self, found: Any, key: Key, *known: str) -> None:
        if not isinstance(found, Mapping):
            raise TomlError(key, f"{key[-1]!r} is not a table", "write [table] or { inline = 1 }")
        for name in found:
            if name not in known:
                raise TomlError((*key, name), f"unknown key {name!r}", suggest(name, known))
        self._found = found
        self._key = key

    def take(self, name: str, reader: Callable[[Any, Key], T], default: D) -> T | D:
        """Read a field, or return the default when it is absent."""
        return reader(self._found[name], (*self._key, name)) if name in self._found else default

    def must(self, name: str, reader: Callable[[Any, Key], T]) -> T:
        """Read a field that is required."""
        if name not in self._found:
            raise TomlError(self._key, f"{name!r} is missing", f"add {name} = ...")
        return reader(self._found[name], (*self._key, name))


def text(found: Any, key: Key) -> str:
    if not isinstance(found, str):
        raise TomlError(key, f"{key[-1]!r} is not text", "put it in quotes")
    return found


def flag(found: Any, key: Key) -> bool:
    if not isinstance(found, bool):
        raise TomlError(key, f"{key[-1]!r} is neither true nor false", "write true or false")
    return found


def number(least: int) -> Callable[[Any, Key], int]:
    """Return what reads a whole number of at least so much."""

    def reader(found: Any, key: Key) -> int:
        if not isinstance(found, int) or isinstance(found, bool) or found < least:
            what = f"{_named(key)} is {found!r}, not a whole number of at least {least}"
            raise TomlError(key, what, f"write a whole number such as {max(least, 1)}")
        return found

    return reader


def one_of(known: Collection[str]) -> Callable[[Any, Key], str]:
    """Return what reads one of these texts."""

    def reader(found: Any, key: Key) -> str:
        if found not in known:
            raise TomlError(key, f"unknown {key[-1]} {found!r}", suggest(str(found), known))
        return str(found)

    return reader


def list_of(item: Callable[[Any, Key], T], example: str) -> Callable[[Any, Key], tuple[T, ...]]:
    """Return what reads a list with something in it."""

    def reader(found: Any, key: Key) -> tuple[T, ...]:
        if not isinstance(found, list) or not found:
            raise TomlError(key, f"{key[-1]!r} is not a list, or is empty", f"write {example}")
        return tuple(item(one, (*key, n)) for n, one in enumerate(found))

    return reader


def _named(key: Key) -> str:
    """Return the name of a field; of an item of a list, that of the list and its number from 1."""
    *_, name = (part for part in key if isinstance(part, str))
    return f"item {key[-1] + 1} of {name!r}" if isinstance(key[-1], int) else repr(name)
