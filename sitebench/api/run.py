"""`sitebench.run`: beside the command line, the one place that knows both halves."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TypeGuard, TypeVar

from ils_bench import trial as directory_trial
from ils_bench.operations import USER_CLASSES as DIRECTORY_OPERATIONS
from ils_bench.sequences import Sequence
from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench import trial as site_trial
from ps_bench.points import USER_CLASSES as SITE_OPERATIONS
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.api.result import Result
from sitebench.errors import UnknownValue
from sitebench.http.scenario import Scenario
from sitebench.suites.own_locustfile import measure


def run(
    operation: str | Sequence | Scenario,
    target: str | LdapDirectory | PersonalizedSite = "embedded",
    *,
    entries: int | None = None,
    users: int = 64,
    rate: float | None = None,
    warmup_s: float = 1.0,
    measure_s: float = 3.0,
    think_s: float = 0.0,
    keys: str = "uniform",
    seed: int = 1997,
    threads: int | None = None,
    tls: bool = False,
    tls_ca: Path | str | None = None,
    tls_insecure: bool = False,
    tls_resume: bool = False,
    out: Path | str | None = None,
) -> Result:
    """Measure one operation, as `sitebench ils run` and `sitebench ps run` do.

    `operation` is a name those commands take (lookup, add, connect, ...; scenario, page, ...), or
    a sequence or scenario of your own. `target` is one of theirs too, or a server that runs in
    this process, which says itself whether TLS is spoken and whom to trust; `tls` has an embedded
    target of that name speak it. The load comes from a process of its own. With `out` the run file
    is kept: for `sitebench report`, and to go on with.
    """
    load = {
        "users": users,
        "rate": rate,
        "warmup": warmup_s,
        "measure": measure_s,
        "think": think_s,
        "keys": keys,
        "seed": seed,
        "threads": threads,
        "tls": tls,
        "tls_ca": None if tls_ca is None else str(tls_ca),
        "tls_insecure": tls_insecure,
        "tls_resume": tls_resume,
    }
    if _is_of(operation, Sequence, DIRECTORY_OPERATIONS):
        if isinstance(target, PersonalizedSite):
            raise UnknownValue(f"{_name(operation)} is not for a site", "give it a directory")
        stage = directory_trial.stage(operation, target, entries, load)
    elif _is_of(operation, Scenario, SITE_OPERATIONS):
        if isinstance(target, LdapDirectory):
            raise UnknownValue(f"{_name(operation)} is not for a directory", "give it a site")
        stage = site_trial.stage(operation, target, entries, load)
    else:
        known = ", ".join([*DIRECTORY_OPERATIONS, *SITE_OPERATIONS])
        raise UnknownValue(f"unknown operation {operation!r}", f"use one of {known}")
    return measure(stage, out)


T = TypeVar("T")


def _is_of(operation: object, kind: type[T], names: Collection[str]) -> TypeGuard[str | T]:
    return isinstance(operation, kind) or (isinstance(operation, str) and operation in names)


def _name(operation: str | Sequence | Scenario) -> str:
    return repr(operation if isinstance(operation, str) else operation.name)
