"""CSV files of users: their separator, and which column names a message may show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sitebench._engine import EngineError, Table

COMMA = ","
FIELD = re.compile(r"[\w\-;. /()#+@&]+")
"""Names of columns that a scenario can use (`in_column` of the form's reader)."""
_SEPARATORS = f"{COMMA};\t"
"""Spreadsheets take semicolons where a comma is part of a number."""
_USUAL = frozenset(
    ("cn", "dn", "email", "id", "login", "mail", "name", "password", "uid", "user", "username")
)
"""Words of which a first line with names of columns has at least one."""


def file_and_columns(text: str) -> tuple[str, str]:
    """Split FILE:COLUMN=ATTRIBUTE at the colon, unless all of it is the name of a file."""
    if Path(text).exists():
        return text, ""
    file, colon, columns = text.rpartition(":")
    return (file, columns) if colon else (text, "")


def separator_of(file: str) -> str:
    """Return the separator of a file's first line; a comma if there is none."""
    return next((separator for separator in _SEPARATORS if _parts(file, separator)), COMMA)


def _parts(file: str, separator: str) -> bool:
    try:
        head = Table.head(file, separator)
    except EngineError:
        return False  # Such as text behind a quote, where another was meant.
    return head is not None and len(head[1]) > 1


def show_columns(columns: Iterable[str]) -> str:
    """Return the names of columns for a message, behind a colon.

    Empty where no name is usual: the line may be a row with a password.
    """
    names = list(columns)
    words = {word for name in names for word in re.split(r"[\W_]+", name.lower())}
    return f": {', '.join(map(repr, names))}" if words & _USUAL else ""
