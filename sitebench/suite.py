"""The suites, each of which declares itself as `SUITE` in its `suite.py` (docs/architecture.md)."""

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
    """The part of a suite in `sitebench demo`."""

    command: tuple[str, ...]
    """A command of the suite, without --measure and --out."""
    points: int
    """The number of points of that command."""
    next: str
    """A command of `sitebench` to try afterwards; `{run}` is the run file."""


class PaperSweep(msgspec.Struct, frozen=True, kw_only=True):
    """The sweep over sizes that a paper printed."""

    sizes: Sequence[int]
    warmup_s: float
    measure_s: float
    users: Mapping[str, Mapping[str, int]] = {}
    """Number of users (clients times users per client) by machine and operation."""
    options: Mapping[str, Mapping[str, str]] = {}
    """Texts of further options, by operation."""


class Operation(msgspec.Struct, frozen=True):
    user_class: str
    """The class in the suite's locustfile."""
    does: str = ""
    """A description of the user's actions, for help and the web page."""


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite; texts of the form "module:name" are read by `pkgutil.resolve_name`."""

    name: str
    """The suite's command (`sitebench NAME run`), and its name in run files."""
    long_name: str | None = None
    """Alias of the command in plain words."""
    title: str
    """The kind of target, in the singular."""
    help: str
    commands: str
    """The suite's commands, in the order of `--help`."""
    operations: Mapping[str, Operation]
    takes_files: str | None = None
    """Protocol of scenario files that can replace an operation."""
    own_verbs: tuple[str, ...] = ()
    """Verbs of scenario files that no other suite's targets support."""
    locustfile: str
    """The module for `locust -f`."""
    demo: Demo
    calibrate: str | None = None
    """Command that measures the machine's limit and the engine's share of it."""
    program: str | None = None
    """Class of user-defined operations in the Python API, if any."""
    points: str
    """The suite's `SuitePoints`."""
    paper_sweep: str = ""
    """The paper's sweep over sizes: a `PaperSweep`."""
    report: str
    """The suite's `ReportSuite`."""
    plan: str
    """The suite's `PlanSuite`."""
    exports: Mapping[str, str]
    """Public names of `import sitebench`, and their modules."""
    target_options: frozenset[str]
    """Options that identify and set up a target; compared runs may differ in these."""
    portable_client: str | None = None
    """The Python client that can replace the native engine, if any."""
    packages: tuple[str, ...] = ()
    """Python packages whose versions are in a run's manifest."""
    metrics: Mapping[str, str] = {}
    """Names of rates that objectives may limit, with the names of these figures in results."""

    @property
    def first_name(self) -> str:
        return self.long_name or self.name

    def locustfile_path(self) -> Path:
        spec = importlib.util.find_spec(self.locustfile)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin)


@functools.cache
def suites() -> tuple[Suite, ...]:
    return tuple(resolve_name(f"{package}.suite:SUITE") for package in SUITES)


def suites_for(protocol: str, verbs: frozenset[str]) -> list[Suite]:
    """Return the suites whose targets support scenario files with a protocol and verbs."""
    takers = [taker for taker in suites() if taker.takes_files == protocol]
    return [taker for taker in takers if verbs.intersection(taker.own_verbs)] or takers


def suite(name: str) -> Suite:
    for candidate in suites():
        if name in (candidate.name, candidate.long_name):
            return candidate
    names = ", ".join(candidate.name for candidate in suites())
    raise BadInput(f"there is no suite {name!r}", f"use one of {names}")
