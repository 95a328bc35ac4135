"""Contents of pages: commands, with sitebench's parser for them, and names of tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from sitebench.suite import suites
from tests.docs.cli_page import commands

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`(sitebench [^`]+)`")
ROOT = Path(__file__).parents[2]
KNOWN: dict[tuple[str, ...], Any] = dict(commands())


def command_of(argv: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """Return the command at the beginning of arguments, and the words that name it."""
    names = {each.long_name: each.name for each in suites()}
    for length in (2, 1):
        words = tuple(names.get(word, word) for word in argv[:length])
        if words in KNOWN:
            return words, KNOWN[words]
    raise AssertionError(f"no such command: {' '.join(argv)}")


def parse(argv: Sequence[str]) -> dict[str, Any]:
    """Return the options that the command's own parser reads; raises its errors."""
    words, command = command_of(argv)
    context = command.make_context(" ".join(words), list(argv[len(words) :]))
    options: dict[str, Any] = context.params
    return options


def blocks(text: str, *languages: str) -> Iterator[str]:
    """Yield the fenced blocks in these languages."""
    for found in FENCE.finditer(text):
        if found[2] in languages:
            yield found[3]


def console(text: str) -> Iterator[list[str]]:
    """Yield the typed commands of a page: `$ sitebench ...`, with continued lines joined.

    Comments and redirections of the output are omitted.
    """
    for block in blocks(text, "console"):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if line.strip().startswith("$ sitebench "):
                words = shlex.split(line.strip()[2:], comments=True)[1:]
                yield [*takewhile(lambda word: word != ">", words)]


def mentioned(text: str) -> Iterator[list[str]]:
    """Yield commands in running text, which may omit arguments."""
    for found in SPAN.findall(FENCE.sub("", text)):
        yield shlex.split(found)[1:]


def scripted(text: str) -> Iterator[list[str]]:
    """Yield commands in the YAML of pipelines, up to the next key or item."""
    for block in blocks(text, "yaml"):
        for found in re.findall(r"sitebench ((?:ils|ps) (?:(?!\n\s*(?:- |\w+:)).)*)", block, re.S):
            yield shlex.split(found)


def options(argv: Sequence[str]) -> list[str]:
    return [part.split("=")[0].rstrip(",") for part in argv if part.startswith("--")]


def known_options(command: Any) -> set[str]:
    """Return every spelling of a command's options."""
    spelled = {text for each in command.params for text in (*each.opts, *each.secondary_opts)}
    return spelled | {"--help"}


def names_a_test(text: str) -> bool:
    """Return whether `PATH::NAME` is a Python or Rust test."""
    match = re.fullmatch(r"([\w/.-]+)::(\w+)", text)
    if match is None:
        return False
    path, name = match.groups()
    file = ROOT / ("native/tester/" + path if path.startswith("load/") else path)
    # In Rust: an attribute, perhaps comments of the test, and its function.
    rust = rf"#\[test\]\s+(?:///?[^\n]*\s+)*fn {name}\("
    pattern = rf"^def {name}\(" if file.suffix == ".py" else rust
    if file.suffix == ".py" and not name.startswith("test_"):
        return False
    return file.is_file() and re.search(pattern, file.read_text(), re.MULTILINE) is not None
