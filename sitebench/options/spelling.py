"""Spellings of options: name, letter and aliases."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LETTERS = {"users": "-u", "measure": "-d", "rate": "-r", "out": "-o", "quiet": "-q"}

_ALSO = {
    "entries": ("--size", "--sizes"),
    "size": ("--entries", "--sizes"),
    "measure": ("--duration",),
}
"""Names of the option in other tools and commands."""


def long_option(name: str) -> str:
    """Return the option of a field: `--tls-ca` for `tls_ca`."""
    return "--" + name.replace("_", "-")


def spellings(name: str) -> tuple[str, ...]:
    letter = (_LETTERS[name],) if name in _LETTERS else ()
    return (long_option(name), *letter, *_ALSO.get(name, ()))


def nearest(tried: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    return next(iter(difflib.get_close_matches(tried, list(names), 1, cutoff)), None)


def gives(words: list[str], name: str) -> bool:
    return any(_is(word, name) for word in words)


def remove_option(words: list[str], name: str) -> list[str]:
    remaining, value = [], False
    for word in words:
        if not value and not _is(word, name):
            remaining.append(word)
        value = not value and word in spellings(name)
    return remaining


def _is(word: str, name: str) -> bool:
    texts = spellings(name)
    letters = tuple(text for text in texts if not text.startswith("--"))
    return word.split("=", maxsplit=1)[0] in texts or (bool(letters) and word.startswith(letters))
