"""Options that only sites have, joined with those that both halves share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitebench import units
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.locust.web_ui.options import UiOptions as UiDefaults
from sitebench.measure.options import (
    EntriesOption,
    LoadOptions,
    MeasureOptions,
    OwnershipOption,
    PeopleOptions,
    PointOptions,
)
from sitebench.measure.options import PeakOptions as SearchOptions
from sitebench.options.option import choice, option, whole
from sitebench.system import secret
from sitebench.targets.serving import parse_limits
from sitebench.targets.tls_options import TlsOptions, TlsServeOptions


@dataclass(frozen=True)
class SiteOptions(OwnershipOption, TlsOptions):
    """Which site, and how to talk to it."""

    target: str = option(
        "embedded",
        "What to measure: embedded, or the http:// or https:// address of your own site.",
        parse=secret.address,
        metavar="TARGET",
        panel="Target",
    )
    scenario: str | None = option(
        None,
        "TOML file of what users of your own site do (docs/scenarios.md); without it, the paper's.",
        metavar="FILE",
        panel="Target",
    )
    keepalive: bool = option(
        False,
        "One connection per user; without it one per request, as in 1997.",
        paired=True,
    )
    target_threads: int = option(
        1, "Threads of the embedded site.", parse=whole(1), metavar="N", panel="Target"
    )
    durability: str = option(
        "normal",
        "What a stored update survives: normal the end of the process, full that of the power.",
        parse=choice("normal", "full"),
        metavar="CHOICE",
        panel="Target",
    )
    row_cache: int = option(
        0,
        "People each thread of the embedded site keeps in front of its database.",
        parse=whole(0),
        metavar="N",
        panel="Target",
    )
    database: str | None = option(
        None,
        "User-property database to take a copy of, instead of the one made for this size.",
        metavar="FILE",
        panel="Target",
    )
    client: str = option(
        "native",
        "Who makes the requests: native lanes, or Locust's fasthttp (portable, far slower).",
        parse=choice("native", "fasthttp"),
        metavar="CHOICE",
    )


@dataclass(frozen=True)
class TestOptions(SiteOptions, PeopleOptions, LoadOptions):
    """Everything that says what a test of a site is, but for its size."""


@dataclass(frozen=True)
class PsOptions(EntriesOption, TestOptions):
    """One test at one size."""


@dataclass(frozen=True)
class CockpitOptions(SessionOptions, PointOptions, PsOptions):
    """What a locustfile takes: a test, and what a sweep tells its points."""


@dataclass(frozen=True)
class RunOptions(MeasureOptions, PsOptions):
    """What `sitebench ps run` takes."""


@dataclass(frozen=True)
class UiOptions(UiDefaults, PsOptions):
    """What `sitebench ps ui` takes."""


@dataclass(frozen=True)
class SweepOptions(MeasureOptions, TestOptions):
    """What `sitebench ps sweep` takes, besides sizes."""


@dataclass(frozen=True)
class PeakOptions(SearchOptions, PsOptions):
    """What `sitebench ps peak` takes."""


@dataclass(frozen=True)
class SeedOptions(EntriesOption, PeopleOptions):
    """What writing a user-property database takes."""


@dataclass(frozen=True)
class ServeOptions(PeopleOptions, TlsServeOptions):
    """What `sitebench ps serve` takes."""

    entries: int | None = option(
        None,
        "People in the database; 10k unless there is a file.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="SIZE",
        panel="People",
    )
    database: str | None = option(
        None,
        "User-property database to serve and to change; without it, a copy thrown away after.",
        metavar="FILE",
        panel="Site",
    )
    host: str = option("127.0.0.1", "Address to listen on.", metavar="HOST", panel="Site")
    port: int = option(
        8080,
        "Port to listen on; 0 takes a free one.",
        parse=whole(0),
        metavar="PORT",
        panel="Site",
    )
    threads: int = option(
        1, "Threads that serve clients.", parse=whole(1), metavar="N", panel="Site"
    )
    durability: str = option(
        "normal",
        "What a stored update survives: normal the end of the process, full that of the power.",
        parse=choice("normal", "full"),
        metavar="CHOICE",
        panel="Site",
    )
    row_cache: int = option(
        0,
        "People each thread keeps in front of the database.",
        parse=whole(0),
        metavar="N",
        panel="Site",
    )
    limit: Mapping[str, int] | None = option(
        None,
        "Limits set otherwise, as name=number,name=number; docs/trust.md lists them.",
        parse=parse_limits,
        metavar="LIMITS",
        panel="Site",
    )
