"""The definition of an option: its parser, text and explanation, and where it appears.

An options class is a frozen dataclass, whose fields are made by the functions below, one for each
kind of value:

    @dataclasses.dataclass(frozen=True)
    class Example:
        measure: float = option.duration(10.0, "Length of the measured window.")
        threads: int | None = option.count(None, "Load threads (default: half the cores).")

`sitebench.options.command` makes commands of it, and `sitebench.options.convert` Locust arguments.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, Self, TypedDict, TypeVar, Unpack, get_args

import msgspec

from sitebench import units
from sitebench.errors import UnknownValue

_T = TypeVar("_T")
_Number = TypeVar("_Number", bound=float | None)
_Integer = TypeVar("_Integer", bound=int | None)
_Text = TypeVar("_Text", bound=str | None)

_Panel = Literal[
    "Options",
    "Load",
    "Target",
    "Entries",
    "Files",
    "Output",
    "Web UI",
    "TLS",
    "Workers",
    "Advanced",
]
PANELS: tuple[_Panel, ...] = get_args(_Panel)
"""Headings of `--help` in their order; "Options" has options of a single command."""

_MOST_PER_S = 10_000_000
"""Highest rate, which needs a hundred cores; arrivals at far higher rates take long to draw."""

_KEY = "sitebench.options.option"


class Option(msgspec.Struct, frozen=True):
    """An option, in the metadata of its field."""

    help: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str]
    metavar: str
    locust_default: Any
    panel: _Panel = "Load"
    locust: bool = True
    local: bool = False
    hidden: bool = False
    paired: bool = False
    form: bool = True
    command: bool = True
    names: tuple[str, ...] = ()
    setting: str = ""

    @property
    def is_flag(self) -> bool:
        return not self.metavar

    def text(self, value: Any) -> str:
        """Return the text that `parse` reads as the value."""
        return str(value).lower() if isinstance(value, bool) else self.show(value)


class Placement(TypedDict, total=False):
    """Places of an option, and further properties with defaults."""

    panel: _Panel
    locust: bool
    """Whether the option is a Locust argument."""
    locust_default: Any
    """The default in Locust, if it differs: a test in Locust runs until it is stopped."""
    local: bool
    """Whether the option names a file or permission of this machine, which workers do not get."""
    hidden: bool
    paired: bool
    """Whether a flag with the default off has a `--no-` form."""
    form: bool
    """Whether the web form has the option; users of the form may not name files of this machine."""
    command: bool
    """Whether the command has the option."""
    names: tuple[str, ...]
    """Names on the command line, in place of the names that `spellings` gives."""
    setting: str
    """The option's name in scenario files and run files, if the option was renamed."""


def parsed(
    default: _T,
    explanation: str,
    *,
    metavar: str,
    parse: Callable[[str], Any] = str,
    show: Callable[[Any], str] = str,
    **placement: Unpack[Placement],
) -> _T:
    placement.setdefault("locust_default", default)
    spec = Option(explanation, parse, show, metavar, **placement)
    declared: _T = field(default=default, metadata={_KEY: spec})
    return declared


def flag(explanation: str, *, default: bool = False, **placement: Unpack[Placement]) -> bool:
    return parsed(default, explanation, metavar="", **placement)


def switch(explanation: str) -> bool | None:
    """Make the field of a flag with the values on, off and unset."""
    unset: bool | None = None
    return parsed(unset, explanation, metavar="", paired=True)


def text(
    default: _Text, explanation: str, metavar: str = "TEXT", **placement: Unpack[Placement]
) -> _Text:
    return parsed(default, explanation, metavar=metavar, **placement)


def file(explanation: str, **placement: Unpack[Placement]) -> str | None:
    return parsed(None, explanation, metavar="FILE", **placement)


def choice(default: _Text, explanation: str, *words: str, **placement: Unpack[Placement]) -> _Text:
    return parsed(default, explanation, metavar="|".join(words), parse=OneOf(*words), **placement)


def duration(
    default: _Number, explanation: str, *, may_be_zero: bool = True, **placement: Unpack[Placement]
) -> _Number:
    """Make the field of a time in seconds, written as `500ms` or `2m`."""

    def above_zero(text: str) -> float:
        if seconds := units.parse_duration(text):
            return seconds
        raise UnknownValue(f"{text!r} is not a time above zero", "write a longer time, such as 10s")

    return parsed(
        default,
        explanation,
        metavar="TIME",
        parse=units.parse_duration if may_be_zero else above_zero,
        show=units.format_duration,
        **placement,
    )


def rate(default: _Number, explanation: str, **placement: Unpack[Placement]) -> _Number:
    """Make the field of a rate in operations per second, written as `500` or `20k`."""
    return parsed(
        default,
        explanation,
        metavar="PER_S",
        parse=sendable,
        show=lambda value: f"{value:.15g}",
        **placement,
    )


def sendable(text: str) -> float:
    rate = units.parse_rate(text)
    if rate > _MOST_PER_S:
        limit = f"{units.format_size(_MOST_PER_S)}/s"
        raise UnknownValue(
            f"rate {text!r} is above {limit}",
            "no load generator can send as much: give a lower rate",
        )
    return rate


def percent(default: _Number, explanation: str, **placement: Unpack[Placement]) -> _Number:
    """Make the field of a share, written as `4%`."""
    return parsed(
        default,
        explanation,
        metavar="PERCENT",
        parse=units.parse_percent,
        show=units.format_percent,
        **placement,
    )


def size(
    default: _Integer, explanation: str, metavar: str = "SIZE", **placement: Unpack[Placement]
) -> _Integer:
    """Make the field of a number of at least 1, written as `1,000` or `10k`."""
    return parsed(
        default,
        explanation,
        metavar=metavar,
        parse=units.parse_size,
        show=units.format_size,
        **placement,
    )


def sizes(explanation: str, **placement: Unpack[Placement]) -> tuple[int, ...]:
    parse = units.parse_sizes
    return parsed((), explanation, metavar="LIST", parse=parse, show=join_values, **placement)


def count(
    default: _Integer,
    explanation: str,
    metavar: str = "N",
    *,
    at_least: int = 1,
    at_most: int | None = None,
    **placement: Unpack[Placement],
) -> _Integer:
    bounds = f"of at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"

    def parse(text: str) -> int:
        grouped = re.fullmatch(r"\d{1,3}(,\d{3})+", text)
        try:
            number = int(text.replace(",", "") if grouped else text)
        except ValueError:
            number = at_least - 1
        if number < at_least or (at_most is not None and number > at_most):
            raise UnknownValue(f"{text!r} is not a whole number {bounds}", "write digits")
        return number

    return parsed(default, explanation, metavar=metavar, parse=parse, **placement)


class OneOf:
    """A parser that accepts one of several words, which a form offers as choices."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def __call__(self, text: str) -> Any:
        if text not in self.allowed:
            raise UnknownValue(f"unknown choice {text!r}", f"use one of {', '.join(self.allowed)}")
        return text


def pairs(text: str, example: str, names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read `name=value,name=value`; with `names`, refuse other names."""
    value_by_name: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not value or (names is not None and name not in names):
            raise UnknownValue(
                f"{part!r} is not one of {', '.join(names)} with its path"
                if names is not None
                else f"{part!r} is not name=value",
                f"write {example}",
            )
        if name in value_by_name:
            raise UnknownValue(f"{name} is given twice in {text!r}", "give it once")
        value_by_name[name] = value
    return value_by_name


def show_pairs(values: Mapping[str, str] | None) -> str:
    return ",".join(f"{name}={value}" for name, value in (values or {}).items())


class SomeOf(OneOf):
    """A parser that accepts a list of the words."""

    def __init__(self, noun: str, *allowed: str) -> None:
        super().__init__(*allowed)
        self._noun = noun

    def __call__(self, text: str) -> Any:
        words = sequence_of(str)(text)
        remedy = f"use some of {', '.join(self.allowed)}"
        if not words:
            raise UnknownValue(f"{text!r} names no {self._noun}", remedy)
        for word in words:
            if word not in self.allowed:
                raise UnknownValue(f"unknown {self._noun} {word!r}", remedy)
        return tuple(dict.fromkeys(words))


def sequence_of(parse: Callable[[str], _T]) -> Callable[[str], tuple[_T, ...]]:
    return lambda text: tuple(parse(part.strip()) for part in text.split(",") if part.strip())


def join_values(values: tuple[object, ...]) -> str:
    return ",".join(str(value) for value in values)


@dataclasses.dataclass(frozen=True)
class Options:
    """Base of options classes, which records the options that were set."""

    explicit: frozenset[str] = parsed(
        frozenset(),
        "Options that were set, and differ from their defaults.",
        parse=lambda text: frozenset(text.split(",")),
        show=lambda names: ",".join(sorted(names)),
        metavar="LIST",
        command=False,
        form=False,
        hidden=True,
    )

    def is_set(self, name: str) -> bool:
        """Return whether an option was set, even to its default."""
        return name in self.explicit

    def assign(self, **values: Any) -> Self:
        """Return options with values as if set by the user."""
        return dataclasses.replace(self, **values, explicit=self.explicit | values.keys())


def group_of(options: object, group: type[_T]) -> _T | None:
    """Return options if they are an instance of a class, else None."""
    return options if isinstance(options, group) else None


_COMBINED: dict[tuple[type[Any], ...], type[Any]] = {}


def combine(*classes: type[Any]) -> type[Any]:
    """Return a class with the options of all classes; for equal names the first class wins."""
    if classes not in _COMBINED:
        name = "".join(cls.__name__.removesuffix("Options") for cls in classes)
        _COMBINED[classes] = dataclasses.dataclass(frozen=True)(type(f"{name}Options", classes, {}))
    return _COMBINED[classes]


def named(parse: Callable[[str], Any], option: str) -> Callable[[str], Any]:
    """Return the parser with errors that name the option."""

    def read(text: str) -> Any:
        try:
            return parse(text)
        except UnknownValue as error:
            raise UnknownValue(f"{option}: {error.message}", error.remedy) from None

    return read


def names_by_setting(cls: type[Any]) -> dict[str, str]:
    """Return the options of a class by their names in scenario files and run files."""
    return {spec.setting or option.name: option.name for option, spec in fields_of(cls)}


def fields_of(cls: type[Any]) -> Iterator[tuple[dataclasses.Field[Any], Option]]:
    for option_field in dataclasses.fields(cls):
        yield option_field, option_field.metadata[_KEY]
