"""The line and column of each key of a TOML text, which `tomllib` does not report.

The text has been read by `tomllib` already, so it is valid TOML: this only has to find keys, not
to refuse anything. Paths are those of the parsed document: names, and numbers within arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r'[ \t]*(?:"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+))[ \t]*')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'", re.DOTALL
)
_BARE = re.compile(r"[^,\]}\n#]+")


def places(text: str) -> dict[_Path, tuple[int, int]]:
    """Return the line and the column, both from 1, of every key and table of a document."""
    return {
        path: (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
        for path, at in _Finder(text).offsets.items()
    }


def place(text: str, path: Iterable[str | int]) -> tuple[int, int]:
    """Return where a key stands, or the nearest thing around it."""
    known, wanted = places(text), tuple(path)
    while wanted and wanted not in known:
        wanted = wanted[:-1]
    return known.get(wanted, (1, 1))


class _Finder:
    def __init__(self, text: str) -> None:
        self.offsets: dict[_Path, int] = {}
        self._text = text
        self._at = 0
        self._elements: dict[_Path, int] = {}
        self._table: _Path = ()
        while self._skip_blank():
            if text[self._at] == "[":
                self._header()
            else:
                self._pair(self._table)

    def _skip_blank(self) -> bool:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at < len(self._text)

    def _header(self) -> None:
        many = self._text.startswith("[[", self._at)
        start = self._at
        self._at += 2 if many else 1
        *before, last = (name for name, _ in self._dotted())
        table: _Path = ()
        for name in before:
            table = self._latest((*table, name))
        table = (*table, last)
        if many:
            self._elements[table] = self._elements.get(table, -1) + 1
            self.offsets.setdefault(table, start)
        self._table = self._latest(table)
        self.offsets.setdefault(self._table, start)
        self._at += 2 if many else 1

    def _latest(self, table: _Path) -> _Path:
        return (*table, self._elements[table]) if table in self._elements else table

    def _dotted(self) -> list[tuple[str, int]]:
        names = []
        while found := _KEY.match(self._text, self._at):
            name = next(part for part in found.groups() if part is not None)
            names.append((name, found.end() - len(found[0].lstrip())))
            self._at = found.end()
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
        return names

    def _pair(self, table: _Path) -> None:
        for name, at in self._dotted():
            table = (*table, name)
            self.offsets.setdefault(table, at)
        self._at += 1
        self._skip_blank()
        self._value(table)

    def _value(self, path: _Path) -> None:
        if self._text[self._at] == "[":
            self._items(path, "]")
        elif self._text[self._at] == "{":
            self._items(path, "}")
        else:
            found = _STRING.match(self._text, self._at) or _BARE.match(self._text, self._at)
            self._at = found.end() if found else self._at + 1

    def _items(self, path: _Path, end: str) -> None:
        self._at += 1
        n = 0
        while self._skip_blank() and self._text[self._at] != end:
            if self._text[self._at] == ",":
                self._at += 1
            elif end == "}":
                self._pair(path)
            else:
                self.offsets.setdefault((*path, n), self._at)
                self._value((*path, n))
                n += 1
        self._at += 1
