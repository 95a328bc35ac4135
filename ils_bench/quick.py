"""Scenarios made in memory from --names, --filter and --mix."""

from __future__ import annotations

import json
import re

from ils_bench.lists import COMMA, FIELD
from ils_bench.names import Names, names_of
from ils_bench.options import IlsOptions
from sitebench.errors import BadInput
from sitebench.scenario.script import Script, from_text

MIX, SEARCH = "mix", "search"
_PERSON = "{name}"
_NAMED = re.compile(r"\{name[.}]")
_VALUE = "{random:10:0-9}"


def described_by(options: IlsOptions) -> tuple[str, str] | None:
    if options.mix:
        return MIX, "--mix"
    return (SEARCH, "--filter") if options.filter else None


def script_of(options: IlsOptions) -> Script | None:
    described = described_by(options)
    return None if described is None else from_text(described[0], text_of(options))


def text_of(options: IlsOptions) -> str:
    if options.names is None:
        raise BadInput("no people are named", "name people of yours, such as --names @people.txt")
    names = names_of(options.names)
    data, person = _data(names, options)
    dn = f"{names.attribute}={person},{{base}}"
    search = options.filter or f"({names.attribute}={_PERSON})"
    lines = [f"base = {quote(plain(options.base))}", "", *data]
    mix = options.mix or ((SEARCH, 1),)
    if options.filter and not options.mix and not _NAMED.search(options.filter):
        raise BadInput(
            f"--filter {options.filter!r} is the same for all: it names no one",
            "write {name} where the name stands, such as (mail={name})",
        )
    for verb, weight in mix:
        lines += ["", "[[operation]]", f"weight = {weight}"]
        if verb == "search":
            lines.append(f"search = {quote(search.replace(_PERSON, person))}")
            if options.filter is None:
                lines.append("expect.entries = 1")
            elif options.verify != "none":
                # A mistyped filter matches no entry, which would give a high rate.
                lines.append('expect.entries = ">=1"')
        elif verb == "compare":
            lines.append(f"compare = {quote(dn)}")
            lines.append(f"entry = {{ {quote(names.attribute)} = {quote(person)} }}")
        elif options.attribute:
            lines.append(f"modify = {quote(dn)}")
            lines.append(f"change.replace.{quote(options.attribute)} = {quote(_VALUE)}")
        else:
            raise BadInput("which attribute changes is not said", "name it with --attribute")
    return "\n".join(lines) + "\n"


def _data(names: Names, options: IlsOptions) -> tuple[list[str], str]:
    deal = f"deal = {quote(options.keys)}"
    if names.table is None:
        text = names.template.partition("=")[2].partition("{i}")
        prefix, suffix = plain(text[0]), plain(text[2])
        lines = ["[data.number]", f"range = [0, {options.entries - 1}]", deal]
        return lines, f"{prefix}{{number}}{suffix}"
    column = names.table.columns[names.column]
    if not FIELD.fullmatch(column):
        raise BadInput(
            f"{names.file}: the column {column!r} cannot be named in a scenario",
            "call it by letters, digits, blanks and - _ ; . / ( ) # + @ &",
        )
    lines = ["[data.name]", f"file = {quote(names.file)}"]
    if not names.headed:
        lines.append(f"columns = [{quote(column)}]")
    if names.separator != COMMA:
        lines.append(f"separator = {quote(names.separator)}")
    return [*lines, deal], f"{{name.{column}}}"


def plain(text: str) -> str:
    """Return a text with braces doubled before names, so that it has no placeholders."""
    return re.sub(r"\{+(?=[A-Za-z_])", lambda braces: 2 * braces[0], text)


def quote(text: str | None) -> str:
    # TOML has the escapes of JSON.
    return json.dumps(text, ensure_ascii=False)
