from __future__ import annotations

from dataclasses import dataclass

from sitebench.http.options import SiteOptions
from sitebench.options import option
from sitebench.suite_base.options import (
    EntriesOption,
    PeopleOptions,
    ServerOptions,
    SizesOption,
    lab_option,
    port_option,
    target_option,
)


@dataclass(frozen=True)
class _DatabaseOptions:
    durability: str = option.choice(
        "normal",
        "Events that a stored update survives: the end of the process (normal), or also a power "
        "failure (full).",
        *("normal", "full"),
        panel="Advanced",
    )
    row_cache: int = option.count(
        0,
        "People that each thread of the embedded site caches in front of its database.",
        at_least=0,
        panel="Advanced",
    )


@dataclass(frozen=True)
class TestOptions(_DatabaseOptions, PeopleOptions, SiteOptions):
    target: str = target_option(
        "embedded", "Site to measure: embedded, or the http:// or https:// address of another."
    )
    keepalive: bool | None = option.switch(
        "One connection per user, instead of one per request as in 1997. Scenario files have "
        "their own setting."
    )
    database: str | None = option.file(
        "User-property database to copy (default: one of this size, which sitebench makes).",
        panel="Entries",
        form=False,
    )


@dataclass(frozen=True)
class PsOptions(EntriesOption, TestOptions):
    """Options of a test with one number of people."""


@dataclass(frozen=True)
class SweepOptions(SizesOption):
    paper: bool = option.flag(
        "The sweep of the 1997 paper: 33 clients, 300 s of warm-up, 600 s measured, 1k to 1m "
        "people.",
        locust=False,
    )
    lab: str = lab_option()


@dataclass(frozen=True)
class SeedOptions(EntriesOption, PeopleOptions):
    """Options of `sitebench ps seed`."""


@dataclass(frozen=True)
class ServeOptions(_DatabaseOptions, PeopleOptions, ServerOptions):
    port: int = port_option(8080)
    entries: int | None = option.size(
        None, "People in the database (default: 10k, or those of --database).", panel="Entries"
    )
    database: str | None = option.file(
        "User-property database to serve and to change (default: a temporary copy).",
        panel="Entries",
    )


@dataclass(frozen=True)
class HarOptions:
    host: str | None = option.text(
        None,
        "Host whose requests are taken (default: that of the first page).",
        "HOST",
        panel="Options",
    )
    think: bool = option.flag(
        "The recording's pauses of a second or longer.", default=True, panel="Options"
    )
    pages_only: bool = option.flag(
        "Leave out images, style sheets, scripts and fonts.", panel="Options"
    )
    out: str | None = option.file(
        "File to write (default: standard output).", panel="Options", form=False
    )
