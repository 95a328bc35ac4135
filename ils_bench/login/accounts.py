"""`--accounts`: a CSV file of accounts that log in; its first line names the columns."""

from __future__ import annotations

import csv
import re
from functools import lru_cache
from pathlib import Path

import msgspec

from ils_bench.lists import FIELD, file_and_columns, separator_of, show_columns, stamp_of
from sitebench._engine import Table
from sitebench.errors import BadFile
from sitebench.system.native_errors import translated

_ATTRIBUTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_LONGEST = 2**31 - 1
"""Largest cell that Python's csv module accepts here; the module's default is 128 Ki characters."""
_BLANKS = re.compile(r"\s*([,;=+])\s*")
_SPECIAL = '"+,;<>\\\\'
"""Characters of a value that are escaped with a backslash (RFC 4514 section 2.4)."""
_TYPES = {
    **dict.fromkeys(("2.5.4.3", "commonname"), "cn"),
    **dict.fromkeys(("2.5.4.4", "surname"), "sn"),
    **dict.fromkeys(("2.5.4.7", "localityname"), "l"),
    **dict.fromkeys(("2.5.4.10", "organizationname"), "o"),
    **dict.fromkeys(("2.5.4.11", "organizationalunitname"), "ou"),
    **dict.fromkeys(("0.9.2342.19200300.100.1.1", "userid"), "uid"),
    **dict.fromkeys(("0.9.2342.19200300.100.1.25", "domaincomponent"), "dc"),
}
"""Long names and OIDs of attributes in DNs (RFC 4519)."""
_DNS = ("dn", "entrydn", "distinguishedname")
_PASSWORDS = ("password", "userpassword", "passwd", "pass")
_NAMES = {"uid": "uid", "login": "uid", "user": "uid", "username": "uid", "mail": "mail"} | {
    name.lower(): name for name in ("sAMAccountName", "userPrincipalName", "cn")
}
"""Columns of login names and the attributes to search, in order of preference."""


class Accounts(msgspec.Struct, frozen=True):
    file: str
    table: Table
    password: str
    dn: str | None
    name: str | None
    attribute: str

    def __len__(self) -> int:
        return self.table.rows

    def cell(self, row: int, column: str) -> str:
        return self.table.cell(row, self.table.columns.index(column))


def accounts_of(text: str) -> Accounts:
    """Read the accounts of FILE or FILE:COLUMN=password,...; errors name the line."""
    file, column_words = file_and_columns(text)
    remedy = "name a CSV file with the columns dn or uid, and password"
    return _read(file, column_words, stamp_of(file, "accounts", remedy))


@lru_cache(maxsize=1)
def _read(file: str, column_words: str, state: tuple[int, int]) -> Accounts:
    """Read a file; `state` is a key of the cache, so a changed file is read again."""
    with translated():
        table = Table.read(file, separator_of(file))
    columns: dict[str, str] = {}
    for column in filter(FIELD.fullmatch, table.columns):
        if (same_name := columns.setdefault(column.lower(), column)) != column:
            raise BadFile(
                f"{file}, line 1: the columns {same_name} and {column} have one name",
                "rename one, or leave it out: attributes are the same in either case",
            )

    hint, head = show_columns(table.columns), f"{file}, line 1"
    columns_by_kind = _choose_columns(file, column_words, columns, hint)
    password, dn = (columns_by_kind.get(kind, (None, ""))[0] for kind in ("passwords", "DNs"))
    name, attribute = columns_by_kind.get("names", (None, "uid"))
    if password is None:
        raise BadFile(
            f"{head}: no column is called password{hint}",
            f"name the columns in the first line, such as uid,password; or write --accounts "
            f"{file}:COLUMN=password,COLUMN=uid",
        )
    if dn is None and name is None:
        raise BadFile(
            f"{head}: no column is called dn or uid{hint}",
            f"call one dn, or one of {', '.join(_NAMES)}; or write --accounts {file}:COLUMN=uid",
        )
    accounts = Accounts(file, table, password, dn, name, _NAMES.get(attribute.lower(), attribute))
    _none_empty(accounts)
    none_twice(accounts, accounts.dn or accounts.name or "")
    return accounts


def _choose_columns(
    file: str, column_words: str, columns: dict[str, str], hint: str
) -> dict[str, tuple[str, str]]:
    by_kind: dict[str, tuple[str, str]] = {}
    for word_pair in filter(None, column_words.split(",")):
        heading, _, word = (part.strip() for part in word_pair.partition("="))
        word = word or heading
        if (column := columns.get(heading.lower())) is None:
            raise BadFile(
                f"{file}, line 1: no column is called {heading}{hint}", "name one that is there"
            )
        if not _ATTRIBUTE.fullmatch(word):
            raise BadFile(
                f"{word!r} is no attribute that accounts are found by",
                f"write --accounts {file}:{heading}=uid",
            )
        named_column, _ = by_kind.setdefault(_kind(word), (column, word))
        if named_column != column:
            raise BadFile(
                f"--accounts names two columns of {_kind(word)}, {named_column} and {column}",
                "name one",
            )
    for word in filter(columns.get, (*_PASSWORDS, *_DNS, *_NAMES)):
        by_kind.setdefault(_kind(word), (columns[word], word))
    return by_kind


def _kind(word: str) -> str:
    word = word.lower()
    return "passwords" if word in _PASSWORDS else "DNs" if word in _DNS else "names"


def _none_empty(accounts: Accounts) -> None:
    """Raise if an account has an empty DN, name or password.

    A bind with an empty password is refused, or succeeds as anonymous (RFC 4513 section 5.1.2).
    """
    table = accounts.table
    for name in (accounts.password, accounts.dn, accounts.name):
        if name is None:
            continue
        place = table.columns.index(name)
        for row in range(table.rows):
            if not table.cell(row, place):
                raise BadFile(
                    f"{accounts.file}, line {line_of(accounts.file, row)}: {name} is empty",
                    "fill it in, or remove the line",
                )


def none_twice(accounts: Accounts, name: str) -> None:
    """Raise if two lines have the same account: a run can send a wrong password for each line."""
    cell, spellings = accounts.table.cell, set[str]()
    place = accounts.table.columns.index(name)
    for row in range(accounts.table.rows):
        # Directories ignore case, outer blanks and repeated inner blanks in names.
        spelling = cell(row, place).casefold()
        if name == accounts.dn:
            spelling = _one_spelling(spelling)
        if " " in spelling:
            spelling = _BLANKS.sub(r"\1", " ".join(spelling.split()))
        if spelling in spellings:
            raise BadFile(
                f"{accounts.file}, line {line_of(accounts.file, row)}: {name} "
                f"{cell(row, place)!r} is there twice",
                "remove the line: each account logs in in its turn",
            )
        spellings.add(spelling)


def _one_spelling(dn: str) -> str:
    """Return the normal form of a DN: RFC 4514 allows several spellings."""

    def character(match: re.Match[str]) -> str:
        try:
            text = bytes.fromhex(match[0].replace("\\", "")).decode().casefold()
        except ValueError:
            return match[0]
        return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in text)

    def needed(match: re.Match[str]) -> str:
        return match[match[1] not in _SPECIAL]

    dn = re.sub(r"\\(.)", needed, re.sub(r"(?:\\[0-9a-f]{2})+", character, dn))
    rdns = []
    for rdn in re.findall(r"(?:\\.|[^\\,;])+", dn):
        parts = (pair.partition("=") for pair in re.findall(r"(?:\\.|[^\\+])+", rdn))
        names = ((kind.strip().removeprefix("oid."), value.strip()) for kind, _, value in parts)
        rdns.append("+".join(sorted(f"{_TYPES.get(kind, kind)}={value}" for kind, value in names)))
    return ",".join(rdns)


def line_of(file: str, row: int) -> int:
    """Return the number of the line in which a row begins; rows count from 0."""
    # The limit is restored, because it applies to the whole process, possibly a user's program.
    usual = csv.field_size_limit(_LONGEST)
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as lines:
            reader, line = csv.reader(lines, delimiter=separator_of(file)), 0
            for cells in reader:
                # The first row holds the column names.
                row -= bool(cells)
                if row < -1:
                    return line + 1
                line = reader.line_num
        return line
    finally:
        csv.field_size_limit(usual)
