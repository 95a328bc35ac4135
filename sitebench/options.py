"""Options, each defined once: the command line, Locust's arguments and its web form follow.

An options class is a frozen dataclass whose fields are made by `option()`; classes combine by
inheritance. From it come

- `command_options(cls)`: a typer command that takes them and receives one instance,
- `add_arguments(parser, cls)`: Locust arguments (and, through Locust, the web form's fields),
- `from_namespace(cls, namespace)`: the instance back from what Locust parsed,
- `texts(instance)`: the values as text, which identify a point in a run file,
- `to_argv(instance)`: the Locust command line that means the same.

In Locust a value stays text until `from_namespace`: its web form converts a posted text with the
type of the value it replaces, and `int("10k")` would fail there.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from sitebench import units
from sitebench.errors import UnknownValue
from sitebench.exporter_address import parse_exporter
from sitebench.objective import Objective
from sitebench.workers.address import MasterAddress

T = TypeVar("T")
SAME: Any = object()
_KEY = "sitebench.option"


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
    secret: bool
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
    secret: bool = False,
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
        secret,
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


def one_address(text: str) -> str:
    """Refuse what listens everywhere: workers need an address to go to."""
    if text in ("0.0.0.0", "::", "*"):
        raise UnknownValue(f"{text} is no address to go to", "name the one that workers reach")
    return text


@dataclass(frozen=True)
class OwnershipOption:
    """Whose the target is."""

    i_own_this_target: bool = option(
        False,
        "Write also where the target is another machine: it is yours to fill.",
        panel="Target",
        identity=False,
    )


@dataclass(frozen=True)
class LoadOptions:
    """How hard to push, for how long, and with what."""

    users: int = option(
        64,
        "Virtual users; each is one lane with one connection.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="N",
        locust=False,
    )
    rate: float | None = option(
        None,
        "Operations/s with start times fixed in advance; without it, each user goes on when done.",
        parse=units.parse_rate,
        show=lambda rate: f"{rate:g}",
        metavar="PER_S",
    )
    warmup: float = option(
        2.0,
        "Time before the measured window; kept and marked, never counted.",
        locust_default=0.0,
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    measure: float | None = option(
        10.0,
        "Length of the measured window.",
        locust_default=None,
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    think: float = option(
        0.0,
        "Mean think time of a user between operations.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    keys: str = option(
        "uniform",
        "How the next person is chosen: uniform (as in 1997), zipfian, hotspot or latest.",
        parse=choice("uniform", "zipfian", "hotspot", "latest"),
        metavar="CHOICE",
    )
    timeout: float = option(
        10.0,
        "When an unanswered operation counts as failed.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    threads: int | None = option(
        None,
        "Engine threads; by default half the cores, at most 4.",
        parse=whole(1),
        metavar="N",
    )
    verify: bool = option(True, "Check every answer against the population.")
    workers: int | None = option(
        None,
        "Have this many `sitebench worker` make the load, on this machine and others.",
        parse=whole(1),
        metavar="N",
        panel="Workers",
        locust=False,
    )
    bind: MasterAddress = option(  # noqa: RUF009 -- a field, as all others
        MasterAddress("127.0.0.1"),
        "Where workers find their master: an address of this machine that they can reach.",
        parse=MasterAddress.parse,
        metavar="HOST[:PORT]",
        panel="Workers",
        locust=False,
        identity=False,
    )
    workers_wait: float = option(
        120.0,
        "How long a point waits for its workers.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
        panel="Workers",
        locust=False,
        identity=False,
    )
    target_host: str | None = option(
        None,
        "Address an embedded target listens on, for workers elsewhere; by default loopback.",
        parse=one_address,
        metavar="HOST",
        panel="Workers",
    )
    monitor: str | None = option(
        None,
        "A node_exporter on the target's machine, to watch it too: host, or http://host:9100.",
        parse=parse_exporter,
        metavar="URL",
        identity=False,
    )


@dataclass(frozen=True)
class EntriesOption:
    """One size."""

    entries: int = option(
        10_000,
        "People in the directory or the database.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="SIZE",
        panel="People",
    )


@dataclass(frozen=True)
class PeopleOptions:
    """Who is in the directory or the database."""

    seed: int = option(
        1997, "Seed of the population and of the keys.", parse=whole(0), metavar="N", panel="People"
    )
    locales: tuple[str, ...] = option(
        ("en_US", "de_DE", "fr_FR", "es_ES", "ru_RU", "el_GR", "ja_JP"),
        "Where the people come from, as Faker names it.",
        parse=sequence_of(str),
        show=joined,
        metavar="LIST",
        panel="People",
    )


@dataclass(frozen=True)
class OutputOptions:
    """Where results go."""

    out: str | None = option(
        None,
        "Run file to write; an existing one is resumed.",
        metavar="FILE",
        panel="Output",
        locust=False,
        identity=False,
    )
    resume: bool = option(
        False,
        "Go on with --out, and refuse to begin when it is not there.",
        panel="Output",
        locust=False,
        identity=False,
    )
    json: bool = option(
        False,
        "Print one JSON object per point instead of tables.",
        panel="Output",
        locust=False,
        identity=False,
    )


@dataclass(frozen=True)
class RepeatOptions(OutputOptions):
    """How often each point is measured."""

    repeats: int = option(
        1,
        "How often each point is measured, its target opened anew; 6 give a 95% interval.",
        parse=whole(1),
        metavar="N",
        locust=False,
        identity=False,
    )


@dataclass(frozen=True)
class MeasureOptions(RepeatOptions):
    """What `run` and `sweep` take besides their points."""

    objective: Objective | None = option(  # noqa: RUF009 -- a field, as all others
        None,
        "What each point must reach, such as 'p99<5ms,failures<0.1%'; otherwise exit code 3.",
        parse=Objective.parse,
        metavar="LIST",
        panel="Pipelines",
        locust=False,
        identity=False,
    )
    junit: str | None = option(
        None,
        "JUnit XML file to write: a test case per point.",
        metavar="FILE",
        panel="Pipelines",
        locust=False,
        identity=False,
    )


DEFAULT_CLIENTS = (2, 4, 8, 14, 28, 56, 112)
"""The client counts of the papers."""

DEFAULT_USERS = 64


def _lanes(text: str) -> int:
    return 0 if text == AUTO else units.parse_size(text)


def _percentage(text: str) -> float:
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = 0.0
    if not 0.5 <= share <= 50:
        raise UnknownValue(f"precision {text!r} is not between 0.5% and 50%", "write 5%, say")
    return share


AUTO = "auto"
"""What an option is that was not given, where none given is to be told from one that was."""


@dataclass(frozen=True)
class PeakOptions(RepeatOptions):
    """What `peak` takes besides the operation: given client counts, or an objective."""

    clients: tuple[int, ...] = option(
        (),
        "Client counts to measure; the papers' 2,4,8,14,28,56,112 unless there is an --objective.",
        parse=sequence_of(units.parse_size),
        show=joined,
        metavar="LIST",
        panel="Clients",
        locust=False,
        identity=False,
    )
    foresee: tuple[int, ...] = option(
        (),
        "Client counts to expect a rate of, by the fitted law; at most twice the largest measured.",
        parse=sequence_of(units.parse_size),
        show=joined,
        metavar="LIST",
        panel="Clients",
        locust=False,
        identity=False,
    )
    objective: Objective | None = option(  # noqa: RUF009 -- a field, as all others
        None,
        "Search for the highest rate that meets this, such as 'p99<5ms,failures<0.1%'.",
        parse=Objective.parse,
        metavar="LIST",
        panel="Search",
        locust=False,
        identity=False,
    )
    start: float | None = option(
        None,
        "Rate to begin with; by default the lowest whose percentiles one window can tell.",
        parse=units.parse_rate,
        show=lambda rate: f"{rate:g}",
        metavar="PER_S",
        panel="Search",
        locust=False,
        identity=False,
    )
    precision: float | None = option(
        None,
        "How close the rate that broke must be to the one that held; 5% by default.",
        parse=_percentage,
        metavar="SHARE",
        panel="Search",
        locust=False,
        identity=False,
    )
    hold: float | None = option(
        None,
        "How long the rate that was found must hold each time; three windows by default.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
        panel="Search",
        locust=False,
        identity=False,
    )
    holds: int | None = option(
        None,
        "How often it must hold; 3 times by default.",
        parse=whole(1),
        metavar="N",
        panel="Search",
        locust=False,
        identity=False,
    )
    users: int = option(
        0,
        f"Lanes the search begins with, {DEFAULT_USERS} by default; doubled while all are busy.",
        parse=_lanes,
        show=lambda n: units.format_size(n) if n else AUTO,
        metavar="N",
        panel="Search",
        locust=False,
    )
    rate: float | None = option(None, "Refused.", parse=units.parse_rate, hidden=True)


@dataclass(frozen=True)
class PointOptions:
    """What a point's Locust process is told by the sweep, and people need not know."""

    store: str | None = option(None, "Run file.", hidden=True)
    point: str | None = option(None, "Key of the point in the run file.", hidden=True)
    target_pid: int | None = option(None, "Process to watch.", parse=whole(1), hidden=True)
    target_cores: int | None = option(
        None, "Cores the target may use.", parse=whole(1), hidden=True
    )
    least_workers: int | None = option(
        None, "How many workers will do when time is up.", parse=whole(1), hidden=True
    )


FIRST = ("target", "entries", "rate", "think", "keys")
"""What a form asks for first."""


def run_file(kind: str) -> str:
    """Return the name of a new run file, for a command that was given none."""
    return f"{kind}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.sitebench"


def fields_of(cls: type[Any]) -> Iterator[tuple[dataclasses.Field[Any], Option]]:
    """Yield every field of an options class with its definition."""
    for each in dataclasses.fields(cls):
        yield each, each.metadata[_KEY]


def flag(name: str) -> str:
    """Return the command-line spelling of a field's name."""
    return "--" + name.replace("_", "-")


def texts(instance: Any) -> dict[str, str]:
    """Return every identifying value as text, by field name; unset ones are left out."""
    found = {}
    for each, spec in fields_of(type(instance)):
        value = getattr(instance, each.name)
        if spec.identity and value is not None:
            found[each.name] = str(value).lower() if value in (True, False) else spec.show(value)
    return found


def to_argv(instance: Any) -> list[str]:
    """Return the Locust arguments that mean this instance; defaults are left out."""
    argv = []
    for each, spec in fields_of(type(instance)):
        value = getattr(instance, each.name)
        if not spec.locust or value == spec.locust_default:
            continue
        if isinstance(each.default, bool):
            argv.append(flag(each.name) if value else flag(f"no_{each.name}"))
        elif value is not None:
            argv.append(f"{flag(each.name)}={spec.show(value)}")
    return argv


def add_arguments(parser: argparse.ArgumentParser, cls: type[Any], title: str) -> None:
    """Give Locust's parser every option that it does not have already under that name."""
    known = {text for action in parser._actions for text in action.option_strings}
    group = parser.add_argument_group(title)
    for each, spec in sorted(fields_of(cls), key=_turn):
        if not spec.locust:
            continue
        if flag(each.name) in known:
            if parser.get_default(each.name) is None and spec.locust_default is not None:
                parser.set_defaults(**{each.name: spec.show(spec.locust_default)})
            continue
        explanation = argparse.SUPPRESS if spec.hidden else spec.help.replace("%", "%%")
        if isinstance(each.default, bool):
            action: Any = group.add_argument(
                flag(f"no_{each.name}") if each.default else flag(each.name),
                dest=each.name,
                action="store_false" if each.default else "store_true",
                default=each.default,
                help=explanation,
            )
        else:
            action = group.add_argument(
                flag(each.name),
                type=_checked(spec.parse),
                default="" if spec.locust_default is None else spec.show(spec.locust_default),
                metavar=spec.metavar,
                help=explanation,
            )
            if isinstance(spec.parse, choice):
                action.choices = spec.parse.allowed
        # What Locust's own parser would note for its web form; a group's does not.
        action.include_in_web_ui = spec.form
        action.is_secret = spec.secret
        action.is_required = action.is_multiple = False


def _turn(field_and_option: tuple[dataclasses.Field[Any], Option]) -> int:
    name = field_and_option[0].name
    return FIRST.index(name) if name in FIRST else len(FIRST)


def show_for_lanes(parser: argparse.ArgumentParser) -> None:
    """Have Locust's web UI begin as lanes need it, where nobody said otherwise."""
    # Every class can be run by itself from the first screen on; only this machine sees the page.
    parser.set_defaults(class_picker=True, web_host="127.0.0.1")


def narrowed(cls: type[T], options: Any) -> T:
    """Return those of an instance's values that another options class has too."""
    names = [each.name for each, _ in fields_of(cls) if hasattr(options, each.name)]
    return cls(**{name: getattr(options, name) for name in names})


def _checked(parse: Callable[[str], Any]) -> Callable[[str], str]:
    """Check a text when Locust parses it, and leave it text."""

    def check(text: str) -> str:
        try:
            if text:
                parse(text)
        except UnknownValue as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


def from_namespace(cls: type[T], namespace: argparse.Namespace) -> T:
    """Read an options class back from what Locust parsed, or its web form posted."""
    posted = vars(namespace)
    chosen = from_texts(cls, posted)
    unset = {
        each.name: spec.locust_default
        for each, spec in fields_of(cls)
        if spec.locust and posted.get(each.name) in (None, "")
    }
    return dataclasses.replace(chosen, **unset)  # type: ignore[type-var]


def from_texts(cls: type[T], found: Mapping[str, Any]) -> T:
    """Make an options class from texts by field name; what is missing keeps its default."""
    values: dict[str, Any] = {}
    for each, spec in fields_of(cls):
        value = found.get(each.name)
        if isinstance(each.default, bool):
            if value is not None:
                values[each.name] = str(value).lower() == "true"
        elif value not in (None, ""):
            values[each.name] = spec.parse(str(value))
    return cls(**values)


def command_options(cls: type[Any]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Turn `f(options, ...)` into a typer command that takes the options of `cls` one by one."""

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        names = [each.name for each, _ in fields_of(cls)]

        @functools.wraps(function)
        def command(**values: Any) -> T:
            chosen = cls(**{name: values.pop(name) for name in names})
            return function(chosen, **values)

        generated = [_parameter(each, spec) for each, spec in fields_of(cls)]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + generated
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return decorate


def _parameter(each: dataclasses.Field[Any], spec: Option) -> inspect.Parameter:
    """Describe one option to typer; its default is text, because typer parses defaults too."""
    import typer

    annotation: Any
    default: Any
    if isinstance(each.default, bool):
        both = each.default or spec.paired
        declared = f"{flag(each.name)}/{flag(f'no_{each.name}')}" if both else flag(each.name)
        info = typer.Option(
            declared,
            help=spec.help,
            rich_help_panel=spec.panel,
            hidden=spec.hidden,
        )
        annotation, default = Annotated[bool, info], each.default
    else:
        info = typer.Option(
            flag(each.name),
            help=spec.help,
            parser=spec.parse,
            metavar=spec.metavar,
            rich_help_panel=spec.panel,
            hidden=spec.hidden,
        )
        annotation = Annotated[str | None, info]
        default = None if each.default is None else spec.show(each.default)
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
