"""CSV files of the user: their separator, and the column names that a message may show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sitebench._engine import EngineError, Table
from sitebench.errors import BadFile

COMMA = ","
FIELD = re.compile(r"[\w\-;. /()#+@&]+")
"""Column names that a scenario can use (`in_column` in native/tester/scenario)."""
_SEPARATORS = f"{COMMA};\t"
"""Spreadsheets write semicolons in countries with decimal commas."""
_USUAL = frozenset(
    ("cn", "dn", "email", "id", "login", "mail", "name", "password", "uid", "user", "username")
)
"""A line is taken for column names if it has one of these words."""


def file_and_columns(text: str) -> tuple[str, str]:
    """Split FILE:COLUMN=ATTRIBUTE at the last colon, unless the whole text names a file."""
    if Path(text).exists():
        return text, ""
    file, colon, columns = text.rpartition(":")
    return (file, columns) if colon else (text, "")


def stamp_of(file: str, content: str, remedy: str) -> tuple[int, int]:
    """Return time and size of a file, by which a cache knows whether it has changed."""
    try:
        stat = Path(file).stat()
    except OSError as error:
        message = f"cannot read the {content} in {file}: {error.strerror}"
        raise BadFile(message, remedy) from error
    return stat.st_mtime_ns, stat.st_size


def separator_of(file: str) -> str:
    return next((separator for separator in _SEPARATORS if _parts(file, separator)), COMMA)


def _parts(file: str, separator: str) -> bool:
    try:
        head = Table.head(file, separator)
    except EngineError:
        return False  # Text behind a quote, where the separator was probably another.
    return head is not None and len(head[1]) > 1


def show_columns(columns: Iterable[str]) -> str:
    """Return a colon and column names, for the end of a message.

    Return an empty text if no name is usual, because the line could be a row with a password.
    """
    names = list(columns)
    words = {word for name in names for word in re.split(r"[\W_]+", name.lower())}
    return f": {', '.join(map(repr, names))}" if words & _USUAL else ""
