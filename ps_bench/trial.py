"""The site half's part of `sitebench.run`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ps_bench import points as sweep
from ps_bench.options import PsOptions
from ps_bench.points import SiteEndpoint
from ps_bench.scenarios import SCENARIOS
from ps_bench.targets.opening import open_target
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.http.address import parse_address
from sitebench.http.open_site import OpenSite, assure_own
from sitebench.http.scenario import Scenario
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suites.own_locustfile import own_locustfile
from sitebench.targets.tls import Trust


@dataclass(frozen=True)
class _OwnEndpoint(SiteEndpoint):
    """A site at which a scenario is measured that has no class in the locustfile."""

    own: tuple[Path, str]
    """A locustfile with one, and its class."""

    def users(self, spec: PointSpec) -> tuple[Path, str]:
        """Return that locustfile."""
        return self.own


def stage(
    operation: str | Scenario,
    target: str | PersonalizedSite,
    entries: int | None,
    load: dict[str, Any],
) -> Stage:
    """Return the one point that `sitebench.run` measures."""
    options = _options(target, entries, load)
    if isinstance(operation, str):
        writes = SCENARIOS[operation].writes
        spec = sweep.point(options, operation)
    else:
        writes = operation.writes
        spec = sweep.point(options, operation.name)
        shown = repr(operation.without_credentials())
        spec = replace(spec, settings={**spec.settings, "scenario": shown})

    @contextlib.contextmanager
    def opened() -> Iterator[SiteEndpoint]:
        if writes and isinstance(target, str) and target != "embedded":
            assure_own(options, f"the operation {spec.operation!r}")
        with contextlib.ExitStack() as stack:
            there = stack.enter_context(_open(options, target))
            if isinstance(operation, str):
                yield SiteEndpoint(there, options)
            else:
                module = "ps_bench.users"
                made = own_locustfile(module, "SiteUser", "scenario", operation)
                yield _OwnEndpoint(there, options, stack.enter_context(made))

    return Stage(options.target, [spec], opened)


def _options(
    target: str | PersonalizedSite, entries: int | None, load: dict[str, Any]
) -> PsOptions:
    if isinstance(target, str):
        return PsOptions(target=target, entries=entries or 10_000, **load)
    return PsOptions(
        target=target.url,
        entries=entries or target.size,
        locales=target.locales,
        **{**load, "tls_ca": target.ca or load["tls_ca"], "seed": target.seed},
    )


@contextlib.contextmanager
def _open(options: PsOptions, target: str | PersonalizedSite) -> Iterator[OpenSite]:
    if isinstance(target, str):
        with open_target(options) as there:
            yield there
    else:
        # It lives in this process, and whoever holds it throws it away.
        address = parse_address(target.url)
        yield OpenSite(
            "the site",
            address,
            pid=os.getpid(),
            cores=target.threads,
            disposable=True,
            trust=Trust.of(options),
            ca=options.tls_ca,
        )
