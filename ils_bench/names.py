"""`--names`: names of the people in a directory of the user's (docs/your-data.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from ils_bench.lists import COMMA, file_and_columns, separator_of, show_columns, stamp_of
from sitebench._engine import Table
from sitebench.errors import BadFile, UnknownValue
from sitebench.system.native_errors import translated
from sitebench.units import plural

_ATTRIBUTE = "uid"
_PLACE = "{i}"
_FILE = "@"


def check_form(text: str) -> str:
    if text.startswith(_FILE):
        if not text.removeprefix(_FILE).partition(":")[0]:
            raise UnknownValue(f"{text!r} names no file", "write it like @people.txt or @a.csv:uid")
    elif "=" not in text or _PLACE not in text:
        raise UnknownValue(
            f"{text!r} is neither attribute=text{_PLACE} nor {_FILE}FILE",
            f"write it like 'uid=user.{_PLACE}', or @people.txt, with a name in each line",
        )
    return text


@dataclass(frozen=True)
class Names:
    template: str
    """RDN with `{i}` for the number or the name."""
    file: str | None = None
    table: Table | None = field(default=None, repr=False)
    """Values of `{i}`, in a column of the file; None if `{i}` is the number."""
    column: int = 0
    headed: bool = False
    """Whether the first line of the file has column names."""
    separator: str = COMMA

    def fill(self, i: int, escape: Callable[[str], str] = str) -> str:
        name = str(i) if self.table is None else escape(self.table.cell(i, self.column))
        return self.template.replace(_PLACE, name)

    @property
    def attribute(self) -> str:
        return self.template.partition("=")[0]

    @cached_property
    def digest(self) -> str | None:
        return None if self.table is None else self.table.digest(self.attribute, self.column)

    def check(self, size: int) -> None:
        if self.table is not None and (rows := self.table.rows) < size:
            raise BadFile(
                f"{self.file} has {plural(rows, 'name')}, and {size:,} people are asked for",
                f"give --entries {rows}, or less",
            )


def is_list(text: str | None) -> bool:
    return text is not None and text.startswith(_FILE)


def named_by(text: str | None) -> str | None:
    return None if text is None else names_of(text).attribute


def names_of(text: str) -> Names:
    if not is_list(text):
        return Names(text)
    file, attribute = file_and_columns(text.removeprefix(_FILE))
    remedy = "name a file with a name in each line, FILE.csv:mail or FILE.csv:COLUMN=ATTRIBUTE"
    return _read(file, attribute, stamp_of(file, "names", remedy))


@lru_cache(maxsize=1)
def _read(file: str, attribute: str, state: tuple[int, int]) -> Names:
    """Read a list; `state` is a key of the cache, so a changed file is read again."""
    heading, _, attribute = attribute.partition("=")
    is_named, heading = bool(heading), heading or _ATTRIBUTE
    with translated():
        separator = separator_of(file)
        head = Table.head(file, separator)
        if head is None:
            raise BadFile(f"{file} has no names", "write a name in each of its lines")
        line, fields = head
        heads = [head.strip().lower() for head in fields]
        if heading.lower() in heads:
            column = heads.index(heading.lower())
            table = Table.read(file, separator, names=column)
        elif len(heads) == 1:
            column = 0
            table = Table.read(file, columns=[heading], names=column)
        else:
            raise BadFile(
                f"{file}, line {line} has {len(heads)} columns, and none is called {heading}"
                f"{show_columns(fields)}",
                "name one of these, or put names that hold commas in quotes"
                if is_named
                else f"name the column, and the attribute: --names @{file}:COLUMN=uid",
            )
    headed = heading.lower() in heads
    return Names(f"{attribute or heading}={_PLACE}", file, table, column, headed, separator)
