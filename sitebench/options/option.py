"""One option, defined once: how it is read, shown, explained, and where it appears."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sitebench.errors import UnknownValue

T = TypeVar("T")


SAME: Any = object()


_KEY = "sitebench.options.option"


@dataclass(frozen=True)
class Option:
    """One option: how it is read, shown, explained, and where it appears."""

    help: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str]
    metavar: str
    panel: str
    locust: bool
    locust_default: Any
    identity: bool
    hidden: bool
    paired: bool
    form: bool


def option(
    default: Any,
    explanation: str,
    *,
    parse: Callable[[str], Any] = str,
    show: Callable[[Any], str] = str,
    metavar: str = "TEXT",
    panel: str = "Load",
    locust: bool = True,
    locust_default: Any = SAME,
    identity: bool = True,
    hidden: bool = False,
    paired: bool = False,
    form: bool = True,
) -> Any:
    """Make a dataclass field that is also an option.

    `locust` says whether Locust takes it too; `identity` whether a different value makes a
    different point (a file name for the output does not). `locust_default` is for what a person
    at Locust's screen expects otherwise: a test that lasts until it is stopped. `paired` gives
    a switch that is off by default its `--no-` too, for where off is a choice of its own. `form`
    says whether Locust's web form has it too.
    """
    there = default if locust_default is SAME else locust_default
    spec = Option(
        explanation,
        parse,
        show,
        metavar,
        panel,
        locust,
        there,
        identity,
        hidden,
        paired,
        form and not hidden,
    )
    return field(default=default, metadata={_KEY: spec})


class choice:  # noqa: N801 -- used as the other makers of parsers are
    """A parser that accepts exactly these words; a form offers them."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def __call__(self, text: str) -> str:
        """Read one of the words."""
        if text not in self.allowed:
            raise UnknownValue(f"unknown choice {text!r}", f"use one of {', '.join(self.allowed)}")
        return text


def whole(least: int) -> Callable[[str], int]:
    """Make a parser of whole numbers from `least` up."""

    def parse(text: str) -> int:
        try:
            number = int(text.replace(",", "").replace("_", ""))
        except ValueError:
            number = least - 1
        if number < least:
            raise UnknownValue(f"{text!r} is no whole number of at least {least}", "write digits")
        return number

    return parse


def sequence_of(parse: Callable[[str], T]) -> Callable[[str], tuple[T, ...]]:
    """Make a parser of values separated by commas."""
    return lambda text: tuple(parse(part.strip()) for part in text.split(",") if part.strip())


def joined(values: tuple[object, ...]) -> str:
    """Show a tuple the way `sequence_of` reads it."""
    return ",".join(str(value) for value in values)


def fields_of(cls: type[Any]) -> Iterator[tuple[dataclasses.Field[Any], Option]]:
    """Yield every field of an options class with its definition."""
    for each in dataclasses.fields(cls):
        yield each, each.metadata[_KEY]


def flag(name: str) -> str:
    """Return the command-line spelling of a field's name."""
    return "--" + name.replace("_", "-")
