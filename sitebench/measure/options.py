"""Options of all commands that measure, in classes that combine by inheritance."""

from __future__ import annotations

import contextlib
import datetime as dt
from dataclasses import dataclass
from typing import Final, TypeVar, Unpack

from sitebench import units
from sitebench.counts.stages import Stages
from sitebench.counts.until import Until
from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.options import option
from sitebench.options.addresses import MasterAddress, parse_exporter, reachable_host
from sitebench.options.option import Options, Placement, group_of

# Placements of options that the command has and Locust lacks.
_COMMAND: Final[Placement] = {"locust": False}
_OUTPUT: Final[Placement] = {"panel": "Output", "locust": False}
_WORKERS: Final[Placement] = {"panel": "Workers", "locust": False}


def objective_option(explanation: str, **placement: Unpack[Placement]) -> Objective | None:
    parse = Objective.parse
    return option.parsed(None, explanation, parse=parse, metavar="CONDITIONS", **placement)


def _one_number_of_users(text: str) -> int:
    if "," in text:
        with contextlib.suppress(UnknownValue):
            return units.parse_size(text)
        with contextlib.suppress(UnknownValue):
            several = option.join_values(units.parse_sizes(text))
            raise BadInput(
                f"--users: {text!r} is a list of numbers of users",
                f"measure each with `peak --clients {several}`",
            )
    return units.parse_size(text)


@dataclass(frozen=True)
class LoadOptions(Options):
    users: int = option.parsed(
        64,
        "Virtual users, each with one connection.",
        parse=_one_number_of_users,
        show=units.format_size,
        metavar="N",
        locust=False,
    )
    rate: float | None = option.rate(
        None,
        "Operations/s, whether or not they are answered (default: each user sends the next one "
        "after an answer).",
    )
    stages: Stages | None = option.parsed(
        None,
        "Rates that change linearly, such as '30s:100,1m:500': durations with the operations/s at "
        "their ends; or @FILE.csv with a minute and a rate on each line; or numbers of users, "
        "such as '30s:50 users'.",
        parse=Stages.from_option,
        metavar="STAGES",
    )
    arrivals: str = option.choice(
        "poisson",
        "Arrivals at a fixed rate: random, as of independent people, or one every 1/rate s.",
        *("poisson", "even"),
    )
    warmup: float = option.duration(
        2.0, "Warm-up before the measured window: shown, not counted.", locust_default=0.0
    )
    measure: float | None = option.duration(
        10.0,
        "Length of the measured window; the default may grow to 30s until the rate is steady.",
        may_be_zero=False,
        locust_default=None,
    )
    think: float = option.duration(0.0, "Mean think time of a user between operations.")
    keys: str = option.choice(
        "uniform",
        "How the next person is chosen (1997: uniform).",
        *("uniform", "zipfian", "hotspot", "latest"),
        panel="Advanced",
    )
    timeout: float = option.duration(
        10.0,
        "Time after which an unanswered operation counts as failed.",
        may_be_zero=False,
        panel="Advanced",
    )
    threads: int | None = option.count(
        None, "Load threads (default: half the cores, at most 4).", panel="Advanced"
    )
    verify: str = option.choice(
        "digest",
        "Check of answers: full, or digest: a person's LDAP entry in full the first time, and "
        "later by length and 64-bit digest.",
        *("digest", "full", "none"),
        panel="Advanced",
    )
    workers: int | None = option.count(
        None,
        "Number of `sitebench worker` processes that make the load, on this machine and others.",
        panel="Workers",
        locust=False,
    )
    bind: MasterAddress = option.parsed(
        MasterAddress("127.0.0.1"),
        "Address of this machine that workers connect to.",
        parse=MasterAddress.parse,
        metavar="HOST[:PORT]",
        **_WORKERS,
    )
    workers_wait: float = option.duration(
        120.0, "Time limit for the workers of a point to connect.", **_WORKERS
    )
    target_host: str | None = option.parsed(
        None,
        "Address an embedded target listens on, for workers elsewhere (default: loopback).",
        parse=reachable_host,
        metavar="HOST",
        panel="Workers",
    )
    fail_log: str | None = option.file(
        "File for the first 100 failed operations of each point, as lines of JSON.",
        panel="Output",
        form=False,
    )
    monitor: str | None = option.parsed(
        None,
        "node_exporter that monitors the target's machine: HOST or http://HOST:9100.",
        parse=parse_exporter,
        metavar="URL",
        panel="Advanced",
        local=True,
    )

    @property
    def client(self) -> str:
        """The client that makes the load: the engine, unless the suite has the option --client."""
        return "native"

    def master_argv(self) -> list[str]:
        """Return Locust's arguments for a master of the workers, if the test has any."""
        if self.workers is None:
            return []
        return [
            *("--master", "--master-bind-host", self.bind.host),
            *("--master-bind-port", str(self.bind.port), "--expect-workers", str(self.workers)),
            *("--expect-workers-max-wait", str(max(1, round(self.workers_wait)))),
        ]


_L = TypeVar("_L", bound=LoadOptions)


QUIET = "Result and errors only: no progress, no advice."


def check_pace(options: LoadOptions) -> None:
    """Raise if both think times and a rate are set."""
    if options.rate is not None and options.think:
        raise BadInput(
            "--think and --rate both decide when a user's next operation begins",
            "leave one of them out; without --rate each user continues after its pause",
        )


def refuse_stages(options: LoadOptions, command: str) -> None:
    if options.stages is not None:
        raise BadInput(
            f"stages are possible in `run`, `sweep` and `ui`, not in {command}",
            "leave --stages out, or give a --rate if a scenario file has stages",
        )


def staged(options: _L) -> _L:
    """Return options with the stages' length and mean rate, or largest number of users."""
    if options.stages is None:
        return options
    if isinstance(options, PeakOptions):
        raise BadInput(
            "peak chooses the rates itself, so it takes no stages",
            "use `run` for --stages, or for a scenario file with stages",
        )
    if options.client != "native":
        raise BadInput(
            f"--client {options.client} has no --stages",
            "leave --client out: the native client has them",
        )
    stages = options.stages
    measuring = group_of(options, MeasureOptions)
    for name, is_set in (
        ("--rate", options.rate is not None),
        ("--measure", options.is_set("measure")),
        ("--warmup", options.is_set("warmup")),
        ("--until", measuring is not None and measuring.until is not None),
        ("--think", options.think > 0 and not stages.of_users),
    ):
        if is_set:
            raise BadInput(
                f"{name} and --stages both set the rate or the length of the test",
                f"leave {name} out: stages have their own length, and no warm-up",
            )
    if stages.of_users and options.is_set("users"):
        raise BadInput("--users and --stages both set the number of users", "leave one out")
    return options.assign(
        **({"users": int(stages.highest)} if stages.of_users else {"rate": stages.mean}),
        warmup=0.0,
        measure=stages.lasts_s,
    )


@dataclass(frozen=True)
class RepeatOptions:
    out: str | None = option.file("Run file to write, or to resume if it exists.", **_OUTPUT)
    resume: bool = option.flag("Continuation of the run in --out, which must exist.", **_OUTPUT)
    json: bool = option.flag("JSON instead of tables: one object per point.", **_OUTPUT)
    quiet: bool = option.flag(QUIET, **_OUTPUT)
    repeats: int = option.count(
        1,
        "Measurements of each point, each with a newly opened target; 6 for a 95% interval.",
        **_COMMAND,
    )


@dataclass(frozen=True)
class MeasureOptions(RepeatOptions):
    until: Until | None = option.parsed(
        None,
        "Percentile and its precision, such as 'p99:5%': the window grows until this precision is "
        "reached, to 5 minutes at most, or to the time in 'p99:5%,20m'.",
        parse=Until.parse,
        metavar="KNOWN",
        panel="Load",
        locust=False,
    )
    objective: Objective | None = objective_option(
        "Objective of each point, such as 'p99<5ms,failures<0.1%'; exit code 3 if one misses it.",
        **_OUTPUT,
    )
    allow_failures: bool = option.flag(
        "Exit code 0 even if more than 1% of a point's operations failed.", **_OUTPUT
    )
    junit: str | None = option.file(
        "JUnit XML file to write, with one test case per point.", **_OUTPUT
    )
    paper_tables: bool = option.flag(
        "The papers' tables, and the bottlenecks of each point, too.", **_OUTPUT
    )


@dataclass(frozen=True)
class VaryOptions:
    """Refuses stages in `vary`, which compares single rates; a test in stages has several rates."""

    stages: Stages | None = option.parsed(
        None, "Refused.", parse=Stages.from_option, metavar="STAGES", hidden=True
    )


DEFAULT_CLIENTS = (2, 4, 8, 14, 28, 56, 112)
"""The client counts of the papers."""
DEFAULT_USERS = 64
_AUTO = "auto"


@dataclass(frozen=True)
class PeakOptions(RepeatOptions):
    clients: tuple[int, ...] = option.sizes(
        "Numbers of users to measure (default: the papers' 2,4,8,14,28,56,112).", **_COMMAND
    )
    objective: Objective | None = objective_option(
        "Objective of the search for the highest rate, such as 'p99<5ms,failures<0.1%'; "
        "with --clients, of the largest number of users.",
        **_COMMAND,
    )
    start: float | None = option.rate(
        None,
        "First rate of the search (default: the lowest rate with enough samples in one window).",
        **_COMMAND,
    )
    apart: float | None = option.duration(
        None,
        "Pause between confirmations of a rate, such as twice the length of the machine's noisy "
        "spells (default: none).",
        **_COMMAND,
    )
    users: int = option.parsed(
        0,
        f"Users at the start of the search, doubled while all are busy; auto: {DEFAULT_USERS}.",
        parse=lambda text: 0 if text == _AUTO else units.parse_size(text),
        show=lambda n: units.format_size(n) if n else _AUTO,
        metavar="N",
        locust=False,
    )
    rate: float | None = option.rate(None, "Refused.", hidden=True)
    stages: Stages | None = option.parsed(
        None, "Refused.", parse=Stages.from_option, metavar="STAGES", hidden=True
    )


DEFAULT_SIZES = (1_000, 10_000, 100_000)
SIZES_HELP = "Numbers of people to measure with, separated by commas (default: {}).".format(
    ",".join(map(units.format_size, DEFAULT_SIZES))
)


def run_file(kind: str) -> str:
    """Return the name of a new run file, for a command without `--out`."""
    return f"{kind}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.sitebench"
