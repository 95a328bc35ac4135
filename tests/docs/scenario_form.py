"""Tables of keys for the pages of scenario files: `python -m tests.docs.scenario_form` writes them.

The tables come from the reader's own table, `native/tester/scenario/src/form.rs`. If a
row of the page begins with the name of one of `TABLES`, the table below it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.cli_page import ROOT

FORM = ROOT / "native" / "tester" / "scenario" / "src" / "form.rs"
PAGE = ROOT / "docs" / "scenarios.md"
SITES = ROOT / "docs" / "site-scenarios.md"
_PROTOCOLS = dict(re.findall(r'^    verb\("(\w+)", (LH|L|H),', FORM.read_text(), re.MULTILINE))
"""The protocols of each verb."""
VERBS = [verb for verb, protocols in _PROTOCOLS.items() if "L" in protocols]
TABLES: Mapping[str, Sequence[str]] = {
    "top level": ("scenario",),
    "`[load]`": ("load",),
    "`[connection.NAME]`": ("connection",),
    "`[data.NAME]`": ("data",),
    "`[start]`": ("start",),
    "`[[operation]]`": ("operation", "card"),
    "any step": ("step", "asks", "ldap"),
    "verb": VERBS,
    "`expect`": ("expect",),
    "`capture.NAME`": ("capture",),
    "`control`": ("controls",),
    '`control."OID"`': ("control",),
    "`change`": ("change",),
    "value": ("value",),
}
"""First cells of headers, and the tables of the form below them."""
METHODS = [verb for verb, protocols in _PROTOCOLS.items() if protocols == "H"]
OF_SITES: Mapping[str, Sequence[str]] = {
    "verb": METHODS,
    "any request": ("http",),
    "`post`, `put`, `patch`": ("body",),
    "top level": ("scenario",),
    "`[files.SET]`": ("class",),
    "`[connection.NAME]`": ("connection",),
    "`[[operation]]`": ("card",),
    "`expect`": ("expect",),
    "`expect.identity`": ("identity",),
    "`capture.NAME`": ("capture",),
}
"""The same for the page of sites, with only the keys of sites."""
_TABLE = re.compile(r"^    (\w+) \{", re.MULTILINE)
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_KEY = re.compile(
    rf"(\w+): ([^;]*?),\s*(LH|L|H), (\w+),\s*(?:(REQUIRED)|{_TEXT}),\s*{_TEXT};", re.DOTALL
)


@dataclass(frozen=True)
class Key:
    table: str
    name: str
    kind: str
    protocols: str
    influence: str
    """Its influence on the figures: Sending, Counting, Waiting or Nothing."""
    default: str
    about: str

    @property
    def meaning(self) -> str:
        """Its meaning, and the permitted words."""
        words = re.findall(_TEXT, self.kind) if self.kind.startswith("Kind::Word") else ()
        listed = [f"`{word}`" for word in words if f"`{word}`" not in self.about]
        return f"{self.about}: {', '.join(listed)}" if listed else self.about


def keys() -> list[Key]:
    form = FORM.read_text().partition("\nform! {\n")[2].partition("\n}\n")[0]
    constants = dict(re.findall(r"^const (\w+): Kind = (.+?);", FORM.read_text(), re.MULTILINE))
    starts = [*_TABLE.finditer(form)]
    ends = [each.start() for each in starts[1:]] + [len(form)]
    found = []
    for start, end in zip(starts, ends, strict=True):
        for name, kind, protocols, influence, required, default, about in _KEY.findall(
            form[start.end() : end]
        ):
            # Defaults for HTTP alone are omitted.
            usual = required.lower() or _plain(default).removesuffix("; step with HTTP 1.0")
            known = constants.get(kind, kind)
            found.append(Key(start[1], name, known, protocols, influence, usual, _plain(about)))
    return found


def _plain(text: str) -> str:
    return text.replace('\\"', '"')


def of_directories(tables: Sequence[str]) -> list[Key]:
    """Return the keys of these tables that a file for a directory may have."""
    known = keys()
    return [key for table in tables for key in known if key.table == table and "L" in key.protocols]


def of_sites(tables: Sequence[str]) -> list[Key]:
    """Return the keys of these tables that only a file for a site may have."""
    known = keys()
    return [key for table in tables for key in known if key.table == table and key.protocols == "H"]


def rows(header: str, page: Path) -> Iterator[str]:
    found = of_sites(OF_SITES[header]) if page == SITES else of_directories(TABLES[header])
    for key in found:
        name, meaning = f"`{key.name}`", key.meaning.replace("|", "\\|")
        if header != "verb":
            yield f"| {name} | {meaning} | {key.default} |"
        elif key.name == key.table:
            yield f"| {name} | | {meaning} | {key.default} |"
        else:
            yield f"| | {name} | {meaning} | {key.default} |"


def written(text: str, page: Path = PAGE) -> str:
    """Return the text of a page with its tables generated from the form."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        header = re.match(r"\| (.+?) \|.* meaning \| default \|$", line)
        if header is not None:
            columns = line.count("|") - 1
            lines += [line, "|" + "---|" * columns, *rows(header[1], page)]
            inside = True
        elif not line.startswith("|"):
            inside = False
        if not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for each in (PAGE, SITES):
        each.write_text(written(each.read_text(), each))
