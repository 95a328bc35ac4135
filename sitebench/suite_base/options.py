"""Options of every suite: the target, the people in it, and the server of `serve`.

The options class of a suite inherits these options. It overrides fields whose help text differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from sitebench.measure.options import SIZES_HELP, LoadOptions
from sitebench.options import option
from sitebench.options.option import Options
from sitebench.options.spelling import spellings
from sitebench.scenario.script import ScenarioFile, split
from sitebench.seeders import DEFAULT_LOCALES
from sitebench.system import secret
from sitebench.targets.limits import Limits
from sitebench.targets.serving import parse_limits
from sitebench.targets.tls_options import TlsOptions, TlsServeOptions


def target_option(default: str, explanation: str) -> str:
    """Make the field of a target: a word such as `embedded`, or an address without a password."""
    parse = secret.address
    return option.parsed(default, explanation, parse=parse, metavar="TARGET", panel="Target")


def port_option(default: int) -> int:
    explanation = "Port to listen on; 0 for a free one."
    return option.count(default, explanation, "PORT", at_least=0, at_most=65_535, panel="Target")


@dataclass(frozen=True)
class EndpointOptions(TlsOptions):
    target: str = target_option("embedded", "Target: embedded, or an address.")
    i_own_this_target: bool = option.flag(
        "Permission to write to a target that sitebench did not start.",
        panel="Target",
        local=True,
        form=False,
    )


@dataclass(frozen=True)
class EntriesOption(Options):
    entries: int = option.size(10_000, "People in the directory or database.", panel="Entries")

    @property
    def people(self) -> int:
        return self.entries


@dataclass(frozen=True)
class SizesOption:
    sizes: tuple[int, ...] = option.sizes(
        SIZES_HELP, panel="Entries", locust=False, names=spellings("entries")
    )


def lab_option() -> str:
    return option.choice(
        "2500",
        "Machine whose numbers of clients --paper uses: the ProLiant 2500 (Table 17) or 7000 "
        "(Table 18).",
        *("2500", "7000"),
        panel="Load",
        locust=False,
    )


@dataclass(frozen=True)
class PeopleOptions:
    """Options that, with the number of people, determine the people."""

    seed: int = option.count(
        1997, "Seed of the people and of the random choices.", at_least=0, panel="Advanced"
    )
    locales: tuple[str, ...] = option.parsed(
        DEFAULT_LOCALES,
        "Faker locales of the names and addresses.",
        parse=option.sequence_of(str),
        show=option.join_values,
        metavar="LIST",
        panel="Advanced",
    )


@dataclass(frozen=True)
class SuiteOptions(EndpointOptions, LoadOptions):
    target_threads: int = option.count(1, "Threads of the embedded target.", panel="Advanced")
    target_limits: Limits | None = option.parsed(
        None,
        "Limits of a target that sitebench starts, such as "
        "processors=1,memory=64m,network=10mbit,disk=2mb/s.",
        parse=Limits.parse,
        metavar="LIMITS",
        panel="Advanced",
    )
    scenario: str | None = option.parsed(
        None,
        "Scenario file in TOML: the operations of the users; FILE:OPERATION for one of them "
        "(`sitebench docs scenarios`).",
        parse=ScenarioFile,
        metavar="FILE",
        panel="Load",
        form=False,
    )
    data: Mapping[str, str] | None = option.parsed(
        None,
        "Files that replace those of a scenario file's data: account=mine.csv,group=groups.csv.",
        parse=lambda text: option.pairs(text, "account=mine.csv"),
        show=option.show_pairs,
        metavar="LIST",
        panel="Load",
        form=False,
        local=True,
    )
    check: bool = option.flag(
        "No load: each operation once, with the answer of each step.", panel="Load", locust=False
    )

    @property
    def scenario_path(self) -> str | None:
        """The scenario file without the operation after the colon."""
        return None if self.scenario is None else split(self.scenario)[0]

    @property
    def people(self) -> int:
        return 0


class Part(msgspec.Struct, frozen=True):
    """Operations that share a target, each measured with several numbers of clients."""

    options: SuiteOptions
    operations: Sequence[str]
    clients: Sequence[int] = ()
    named: bool = True
    """Whether the user named the operations; if not, they are defaults."""


@dataclass(frozen=True)
class ServerOptions(TlsServeOptions):
    host: str = option.text("127.0.0.1", "Address to listen on.", "HOST", panel="Target")
    threads: int = option.count(1, "Threads that serve clients.", panel="Advanced")
    limit: Mapping[str, int] | None = option.parsed(
        None,
        "Limits to change, as name=number,name=number (`sitebench docs limits` lists them).",
        parse=parse_limits,
        metavar="LIMITS",
        panel="Advanced",
    )
