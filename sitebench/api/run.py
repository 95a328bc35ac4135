"""`sitebench.run`: one point of any suite, measured from a program."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from sitebench.api.result import Result
from sitebench.errors import UnknownValue
from sitebench.measure.sweep import sweep
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.scenario.script import asked_by, is_script
from sitebench.suite import Suite, suite, suites
from sitebench.suite_base.points import points_of
from sitebench.system.limits import allow_descriptors
from sitebench.system.scratch import scratch


class Program(Protocol):
    """An operation of the caller's own: a sequence."""

    @property
    def name(self) -> str:
        """What it is called in tables and run files."""


class Server(Protocol):
    """A target that runs in this process."""

    @property
    def suite(self) -> str:
        """Name of the suite whose operations it is a target of."""


def run(
    operation: str | Program,
    target: str | Server = "embedded",
    *,
    entries: int | None = None,
    users: int | None = None,
    rate: float | None = None,
    warmup_s: float | None = None,
    measure_s: float | None = None,
    think_s: float | None = None,
    keys: str | None = None,
    seed: int = 1997,
    threads: int | None = None,
    tls: bool = False,
    tls_ca: Path | str | None = None,
    tls_insecure: bool = False,
    tls_resume: bool = False,
    out: Path | str | None = None,
) -> Result:
    """Measure one operation, as the `run` command of its suite does.

    `operation` is a name that such a command takes (lookup, add, connect, ...; scenario, page,
    ...), a scenario file, or a sequence of your own. `target` is what the command's
    --target takes, or a server that runs in this process; that server then decides about TLS and
    its certificate, `tls` is for an embedded target. What a scenario file says of the load holds
    where nothing is said here; else 64 users go as fast as they are answered, for a second before
    the window. Without `measure_s` that is 3 s long, and up to 9 s where that cannot tell a drift
    of the rate from chance. The load comes from a process of its own. With `out` the run file is
    kept: for `sitebench report`, and to be continued.
    """
    asked = {
        "users": users,
        "rate": rate,
        "warmup": warmup_s,
        "measure": measure_s,
        "think": think_s,
        "keys": keys,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    load = {
        "warmup": 1.0,
        "measure": 3.0,
        **given,
        "explicit": frozenset(given),
        "seed": seed,
        "threads": threads,
        "tls": tls,
        "tls_ca": None if tls_ca is None else str(tls_ca),
        "tls_insecure": tls_insecure,
        "tls_resume": tls_resume,
    }
    stage = points_of(_suite_of(operation, target)).api_stage(operation, target, entries, load)
    (test,) = stage.tests
    allow_descriptors(test.spec.users)
    with scratch() as folder:
        path = Path(out or folder / "run.sitebench")
        with RunStore(path) as store:
            (result,) = sweep([stage], store, _Quiet())
        return Result.of(path, result.spec)


def _suite_of(operation: str | Program, target: str | Server) -> Suite:
    """Return the suite that has the operation: the target's, where the target has one."""
    if isinstance(operation, str) and is_script(operation):
        protocol, verbs = asked_by(operation)
        takers = [each for each in suites() if each.takes_files == protocol]
        able = [each for each in takers if verbs.intersection(each.own_verbs)] or takers
    elif isinstance(operation, str):
        able = [each for each in suites() if operation in each.operations]
    else:
        able = [
            each
            for each in suites()
            if each.program and isinstance(operation, resolve_name(each.program))
        ]
    if not able:
        known = ", ".join(name for each in suites() for name in each.operations)
        raise UnknownValue(f"unknown operation {operation!r}", f"use one of {known}")
    if isinstance(target, str):
        return able[0]
    wanted = suite(target.suite)
    if wanted not in able:
        name = operation if isinstance(operation, str) else operation.name
        raise UnknownValue(
            f"{name!r} is not an operation of a {wanted.title.lower()}",
            f"give it a {' or a '.join(each.title.lower() for each in able)}",
        )
    return wanted


class _Quiet:
    """A reporter that shows nothing."""

    def planned(self, points: int) -> None: ...
    def opening(self, title: str) -> None: ...
    def started(self, spec: PointSpec) -> None: ...
    def retried(self, spec: PointSpec) -> None: ...
    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None: ...
    def finished(self, result: PointResult, *, resumed: bool) -> None: ...
