"""The suites, and the facts about a suite that the rooms below use.

A suite is a package for one kind of target: its operations, its targets, its tables. Each says what
it is in `<package>/suite.py`, as `SUITE`; nothing else here imports a suite or knows it by name.
What costs time to import stands there as "module:name" and is loaded when it is needed, so that
listing the suites costs next to nothing: shell completion does it at every key.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name

import msgspec

from sitebench.errors import BadInput

SUITES = ("ils_bench", "ps_bench", "web_bench")
"""The packages, in the order in which the command line lists them."""


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """What `sitebench demo` measures of a suite."""

    command: tuple[str, ...]
    """A command of the suite, without --measure and --out."""
    points: int
    """How many points that measures."""
    next: str
    """A command of `sitebench` to try afterwards; `{run}` is the run file."""


class PaperSweep(msgspec.Struct, frozen=True, kw_only=True):
    """The sweep over sizes that a paper printed."""

    sizes: Sequence[int]
    warmup_s: float
    measure_s: float
    users: Mapping[str, Mapping[str, int]] = {}
    """Clients x users of each, by machine and operation."""
    options: Mapping[str, Mapping[str, str]] = {}
    """Further options of an operation."""


class Operation(msgspec.Struct, frozen=True):
    """What can be measured by name."""

    user_class: str
    """Its class in the suite's locustfile."""
    does: str = ""
    """What a user does, for help and the web page."""


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One suite; what is "module:name" here is imported by `pkgutil.resolve_name`."""

    name: str
    """Its command (`sitebench NAME run`), and what run files call it."""
    long_name: str | None = None
    """Alias of the command in plain words."""
    title: str
    """What it measures, in the singular."""
    help: str
    """Its line in `sitebench --help`."""
    commands: str
    """Its commands, in the order in which help lists them."""
    operations: Mapping[str, Operation]
    takes_files: str | None = None
    """Protocol of scenario files that can take the place of an operation."""
    own_verbs: tuple[str, ...] = ()
    """Verbs of scenario files that only this suite's targets support."""
    locustfile: str
    """The module that `locust -f` is given."""
    demo: Demo
    calibrate: str | None = None
    """Command that measures the machine's limit and the engine's share of it."""
    program: str | None = None
    """Class of user-defined operations in the Python API, if any."""
    points: str
    """Its `SuitePoints`."""
    paper_sweep: str = ""
    """The paper's sweep over sizes: a `PaperSweep`."""
    report: str
    """Its `ReportSuite`."""
    plan: str
    """Its `PlanSuite`."""
    exports: Mapping[str, str]
    """Public names that `import sitebench` offers, and the module that has each."""
    target_options: frozenset[str]
    """Options that say which target it is and how it is set up: they may differ when two runs
    are compared, as the target is what is compared."""
    portable_client: str | None = None
    """The Python client that can replace the native engine, if any."""
    packages: tuple[str, ...] = ()
    """Python packages with versions in a run's manifest."""
    metrics: Mapping[str, str] = {}
    """Rates for objectives, with the figure of a result for each."""

    @property
    def first_name(self) -> str:
        """Its command in help and examples: the alias, if there is one."""
        return self.long_name or self.name

    def locustfile_path(self) -> Path:
        """Return where the locustfile is installed."""
        spec = importlib.util.find_spec(self.locustfile)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin)


@functools.cache
def suites() -> tuple[Suite, ...]:
    return tuple(resolve_name(f"{package}.suite:SUITE") for package in SUITES)


def suite(name: str) -> Suite:
    for candidate in suites():
        if name in (candidate.name, candidate.long_name):
            return candidate
    names = ", ".join(candidate.name for candidate in suites())
    raise BadInput(f"there is no suite {name!r}", f"use one of {names}")
