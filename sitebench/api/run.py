"""`sitebench.run`: measure a point of any suite from a program."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol, runtime_checkable

from sitebench.api.result import Result
from sitebench.errors import BadInput, TargetDied, UnknownValue
from sitebench.measure.sweep import Reporter, sweep
from sitebench.options.arguments import check_arguments
from sitebench.options.option import names_by_setting
from sitebench.options.spelling import nearest
from sitebench.runs.store import RunStore
from sitebench.scenario.script import asked_by, is_script
from sitebench.suite import Suite, suite, suites, suites_for
from sitebench.suite_base.points import points_of
from sitebench.system import secret
from sitebench.system.limits import allow_descriptors
from sitebench.system.scratch import scratch


@runtime_checkable
class Program(Protocol):
    """The caller's own operation: a sequence of requests."""

    @property
    def name(self) -> str:
        """The name of the operation in tables and run files."""


@runtime_checkable
class Server(Protocol):
    """A target that runs in this process."""

    @property
    def suite(self) -> str:
        """The name of the suite whose operations measure the server."""


@check_arguments
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
    names: str | None = None,
    bind_dn: str | None = None,
    password: str | None = None,
    out: Path | str | None = None,
) -> Result:
    """Measure an operation, as the `run` command of its suite does.

    `operation` is a name (lookup, add, connect, ...; scenario, page, ...), a scenario file, or a
    sequence of your own. `target` is a value of --target, or a server that runs in this process;
    such a server has its own TLS settings, and `tls` is for an embedded target. `names` is a value
    of --names: people of your own directory. `bind_dn` binds with `password`, or with
    $SITEBENCH_BIND_PASSWORD; no run file has the password. Arguments replace the load of a scenario
    file. By default 64 users send without pauses, for a second of warm-up and a window of 3 s. The
    window grows up to 9 s if a drift of the rate cannot be distinguished from chance. Another
    process generates the load. With `out` the run file is kept, for `sitebench report`.
    """
    choices = {
        "entries": entries,
        "names": names,
        "bind_dn": bind_dn,
        "users": users,
        "rate": rate,
        "warmup": warmup_s,
        "measure": measure_s,
        "think": think_s,
        "keys": keys,
    }
    points, explicit = points_of(_suite_of(operation, target)), dict[str, Any]()
    names_of_options = names_by_setting(points.options)
    for setting, value in choices.items():
        if value is not None:
            if setting not in names_of_options:
                title = points.suite.title.lower()
                raise BadInput(f"{setting!r} is of no use at a {title}", "leave it out")
            explicit[names_of_options[setting]] = value
    explicit.pop("entries", None)
    load: dict[str, Any] = {
        "warmup": 1.0,
        "measure": 3.0,
        **explicit,
        "explicit": frozenset(explicit),
        "seed": seed,
        "threads": threads,
        "tls": tls,
        "tls_ca": None if tls_ca is None else str(tls_ca),
        "tls_insecure": tls_insecure,
        "tls_resume": tls_resume,
    }
    with contextlib.ExitStack() as opened:
        if (path := _password_path(bind_dn, password, opened)) is not None:
            load["password_file"] = path
        stage = points.api_stage(operation, target, entries, load)
        (test,) = stage.tests
        allow_descriptors(test.spec.users)
        folder = opened.enter_context(scratch())
        run_file = Path(out or folder / "run.sitebench")
        with RunStore(run_file) as store:
            try:
                (result,) = sweep([stage], store, Reporter())
            except TargetDied as error:
                raise TargetDied(
                    error.message, "find out why it ended, and measure again"
                ) from error
        return Result.from_file(run_file, result.spec)


def _password_path(
    bind_dn: str | None, password: str | None, opened: contextlib.ExitStack
) -> str | None:
    """Return a path to the password for the processes of the test, until `opened` is closed."""
    if password is not None:
        if bind_dn is None:
            raise BadInput("a password without a DN", "give bind_dn, too")
        return opened.enter_context(secret.hold_for_test(password.encode()))
    if bind_dn is not None and secret.BIND_PASSWORD not in os.environ:
        raise BadInput(
            f"no password for {bind_dn}", f"give password, or set ${secret.BIND_PASSWORD}"
        )
    return None


def _suite_of(operation: str | Program, target: str | Server) -> Suite:
    """Return the suite of the operation; a server in this process names its own suite."""
    if isinstance(operation, str) and is_script(operation):
        able = suites_for(*asked_by(operation))
    elif isinstance(operation, str):
        able = [suite for suite in suites() if operation in suite.operations]
    else:
        able = [
            suite
            for suite in suites()
            if suite.program and isinstance(operation, resolve_name(suite.program))
        ]
    if not able:
        names = [name for suite in suites() for name in suite.operations]
        near = nearest(str(operation), names)
        remedy = f"use one of {', '.join(names)}" if near is None else f"did you mean {near}?"
        raise UnknownValue(f"unknown operation {operation!r}", remedy)
    if isinstance(target, str):
        return able[0]
    own_suite = suite(target.suite)
    if own_suite not in able:
        name = operation if isinstance(operation, str) else operation.name
        raise UnknownValue(
            f"{name!r} is not an operation of a {own_suite.title.lower()}",
            f"give it a {' or a '.join(suite.title.lower() for suite in able)}",
        )
    return own_suite
