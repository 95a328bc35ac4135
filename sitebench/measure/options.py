"""The options that both halves share, in groups that combine by inheritance."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import NoReturn

from sitebench import units
from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.options.addresses import MasterAddress, parse_exporter, reachable_host
from sitebench.options.option import choice, joined, option, sequence_of, whole


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
        parse=reachable_host,
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


DEFAULT_SIZES = (1_000, 10_000, 100_000)
SIZES_HELP = (
    "Sizes to measure, separated by commas; "
    f"{','.join(map(units.format_size, DEFAULT_SIZES))} unless told otherwise."
)


def sizes_only(_: str) -> NoReturn:
    """Refuse what `run` takes and a sweep does not."""
    raise BadInput("a sweep takes --sizes, not --entries", "write --sizes 10k, or --sizes 1k,10k")


def run_file(kind: str) -> str:
    """Return the name of a new run file, for a command that was given none."""
    return f"{kind}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.sitebench"
