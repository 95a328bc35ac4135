"""Options that only directories have, joined with those that both halves share."""

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

DEFAULT_BASE = "ou=Dynamic,o=Intranet"
PASSWORD_VARIABLE = secret.BIND_PASSWORD
EXTERNAL, PLAIN = "external", "plain"


@dataclass(frozen=True)
class DirectoryOptions(OwnershipOption, TlsOptions):
    """Which directory, and how to talk to it."""

    target: str = option(
        "embedded",
        "What to measure: embedded, openldap, or the ldap:// or ldaps:// address of your own.",
        parse=secret.address,
        metavar="TARGET",
        panel="Target",
    )
    profile: str = option(
        "paper",
        "People: paper (a lookup's answer has 1,283 bytes), small (an Add has 126), or ils.",
        parse=choice("paper", "small", "ils"),
        metavar="CHOICE",
        panel="People",
    )
    base: str = option(DEFAULT_BASE, "DN under which the people are.", metavar="DN", panel="Target")
    bind_dn: str | None = option(
        None, "DN to bind with; without it lanes bind anonymously.", metavar="DN", panel="Target"
    )
    password_file: str | None = option(
        None,
        f"File whose first line is the password; or set ${PASSWORD_VARIABLE}, or type it.",
        metavar="FILE",
        panel="Target",
        identity=False,
        form=False,
    )
    sasl: str | None = option(
        None,
        "Bind over TLS by external (who --tls-cert is for) or plain; without it, simply.",
        parse=choice(EXTERNAL, PLAIN),
        metavar="CHOICE",
        panel="TLS",
    )
    start_tls: bool = option(
        False, "Connect in the clear and ask for TLS (StartTLS), not with ldaps.", panel="TLS"
    )
    names: str | None = option(
        None,
        "RDN of people who are there already, such as 'uid=user.{i}'; nobody is added.",
        metavar="TEMPLATE",
        panel="Target",
    )


@dataclass(frozen=True)
class SequenceOptions:
    """What only a test of a directory asks, not who fills or empties one."""

    target_threads: int = option(
        1, "Threads of the embedded directory.", parse=whole(1), metavar="N", panel="Target"
    )
    client: str = option(
        "native",
        "Who runs the sequences: native lanes, or ldap3 (portable, and far slower).",
        parse=choice("native", "ldap3"),
        metavar="CHOICE",
    )
    session: float = option(
        1200.0,
        "Length of an ils-user's session, filled with think time.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    ring: int = option(
        1_000_000,
        "People a run may have added at any time; beyond that each Add deletes an older one.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="N",
    )


@dataclass(frozen=True)
class LoadTestOptions(SequenceOptions, DirectoryOptions, PeopleOptions, LoadOptions):
    """Everything that says what a test of a directory is, but for its size."""


@dataclass(frozen=True)
class IlsOptions(EntriesOption, LoadTestOptions):
    """One test at one size."""


@dataclass(frozen=True)
class CockpitOptions(SessionOptions, PointOptions, IlsOptions):
    """What a locustfile takes: a test, and what a sweep tells its points."""

    disposable: bool = option(
        False, "The target is thrown away afterwards: remove nothing.", hidden=True
    )


@dataclass(frozen=True)
class RunOptions(MeasureOptions, IlsOptions):
    """What `sitebench ils run` takes."""


@dataclass(frozen=True)
class UiOptions(UiDefaults, IlsOptions):
    """What `sitebench ils ui` takes."""


@dataclass(frozen=True)
class SweepOptions(MeasureOptions, LoadTestOptions):
    """What `sitebench ils sweep` takes, besides sizes and operations."""


@dataclass(frozen=True)
class PeakOptions(SearchOptions, IlsOptions):
    """What `sitebench ils peak` takes."""


@dataclass(frozen=True)
class SeedOptions(EntriesOption, DirectoryOptions, PeopleOptions):
    """What filling a directory takes, and emptying it."""

    target: str = option(
        "",
        "The directory, by its ldap:// or ldaps:// address; it may name the base.",
        parse=secret.address,
        metavar="TARGET",
        panel="Target",
    )


def people_or_none(text: str) -> int:
    """Read a size, or 0 for nobody."""
    return 0 if text.strip() == "0" else units.parse_size(text)


@dataclass(frozen=True)
class ServeOptions(PeopleOptions, TlsServeOptions):
    """What `sitebench ils serve` takes."""

    entries: int | None = option(
        None,
        "People in the directory; 10k unless there is an LDIF file, 0 for none.",
        parse=people_or_none,
        metavar="SIZE",
        panel="People",
    )
    profile: str = option(
        "paper",
        "How people are made and clients talk: paper, small, or ils (with ILS wire behaviour).",
        parse=choice("paper", "small", "ils"),
        metavar="CHOICE",
        panel="People",
    )
    suffix: str = option("o=Intranet", "Root of the tree.", metavar="DN", panel="Directory")
    ldif: str | None = option(None, "LDIF file to load.", metavar="FILE", panel="Directory")
    host: str = option("127.0.0.1", "Address to listen on.", metavar="HOST", panel="Directory")
    port: int = option(
        10389,
        "Port to listen on; 0 takes a free one.",
        parse=whole(0),
        metavar="PORT",
        panel="Directory",
    )
    threads: int = option(
        1, "Threads that serve clients.", parse=whole(1), metavar="N", panel="Directory"
    )
    admin_dn: str | None = option(
        None,
        "Administrator; where there is one, nobody else may write.",
        metavar="DN",
        panel="Access",
    )
    admin_password_file: str | None = option(
        None,
        f"File whose first line is its password; or set ${PASSWORD_VARIABLE}.",
        metavar="FILE",
        panel="Access",
    )
    read_only: bool = option(False, "Refuse every write.", panel="Access")
    limit: Mapping[str, int] | None = option(
        None,
        "Limits set otherwise, as name=number,name=number; docs/trust.md lists them.",
        parse=parse_limits,
        metavar="LIMITS",
        panel="Access",
    )
    require_bind: bool = option(False, "Refuse clients that have not bound.", panel="Access")
    start_tls: bool = option(
        False, "Serve in the clear and offer TLS (StartTLS), not ldaps.", panel="TLS"
    )
