"""The directory half's part of `sitebench.run`."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ils_bench import points as sweep
from ils_bench.operations import LEFT_FOR_LAST
from ils_bench.options import IlsOptions
from ils_bench.points import IlsEndpoint
from ils_bench.sequences import Sequence
from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.live import assure_own
from ils_bench.targets.opening import OWN_TARGETS, open_target
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suites.own_locustfile import own_locustfile
from sitebench.targets.tls import Trust


@dataclass(frozen=True)
class _OwnEndpoint(IlsEndpoint):
    """A directory at which a sequence is measured that has no class in the locustfile."""

    own: tuple[Path, str]
    """A locustfile with one, and its class."""

    def users(self, spec: PointSpec) -> tuple[Path, str]:
        """Return that locustfile."""
        return self.own


def stage(
    operation: str | Sequence,
    target: str | LdapDirectory,
    entries: int | None,
    load: dict[str, Any],
) -> Stage:
    """Return the one point that `sitebench.run` measures."""
    options = _options(target, entries, load)
    if isinstance(operation, str):
        writes = operation in LEFT_FOR_LAST
        spec = sweep.point(options, operation)
    else:
        writes = operation.writes
        spec = sweep.point(options, operation.name)
        spec = replace(spec, settings={**spec.settings, "sequence": repr(operation)})

    @contextlib.contextmanager
    def opened() -> Iterator[IlsEndpoint]:
        if writes and isinstance(target, str) and target not in OWN_TARGETS:
            assure_own(options, f"the operation {spec.operation!r}")
        with contextlib.ExitStack() as stack:
            there = stack.enter_context(_open(options, target))
            if isinstance(operation, str):
                yield IlsEndpoint(there, options)
            else:
                module = "ils_bench.users"
                made = own_locustfile(module, "SequenceUser", "sequence", operation)
                yield _OwnEndpoint(there, options, stack.enter_context(made))

    return Stage(options.target, [spec], opened)


def _options(target: str | LdapDirectory, entries: int | None, load: dict[str, Any]) -> IlsOptions:
    if isinstance(target, str):
        return IlsOptions(target=target, entries=entries or 10_000, **load)
    reached: dict[str, Any] = {"target": target.url, "start_tls": target.start_tls}
    if target.ca is not None:
        reached["tls_ca"] = target.ca
    load = {**load, **reached}
    if target.people is None:
        return IlsOptions(entries=entries or 1, base=target.base, **load)
    who = json.loads(target.people.spec_json)
    return IlsOptions(
        entries=entries or who["size"],
        base=who["base"],
        profile=who["profile"],
        locales=tuple(who["locales"]),
        **{**load, "seed": who["seed"]},
    )


@contextlib.contextmanager
def _open(options: IlsOptions, target: str | LdapDirectory) -> Iterator[OpenDirectory]:
    if isinstance(target, str):
        with open_target(options, options.entries) as there:
            yield there
    else:
        # It lives in this process, and whoever holds it throws it away.
        address = parse_address(target.url, start_tls=target.start_tls)
        yield OpenDirectory(
            "the directory",
            address,
            options.base,
            pid=os.getpid(),
            cores=target.threads,
            disposable=True,
            trust=Trust.of(options),
            ca=options.tls_ca,
        )
