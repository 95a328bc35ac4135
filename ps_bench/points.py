"""Points of the site suite: each has a target of its own, a fresh copy of the same database."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ps_bench.options import LocustOptions, PsOptions, TestOptions
from ps_bench.scenarios import SCENARIOS
from ps_bench.suite import SUITE
from ps_bench.targets.opening import OWN_TARGETS, open_target
from ps_bench.targets.personalized_site import PersonalizedSite
from seeders.upd import Progress, UpdSpec, visitors
from sitebench.errors import BadInput
from sitebench.http.address import parse_address
from sitebench.http.open_site import OpenSite, assure_own
from sitebench.http.scenario import Scenario
from sitebench.http.scenario_file import read
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suites import points
from sitebench.suites.own_locustfile import Own
from sitebench.targets.in_process import known


def point(options: PsOptions, operation: str, **settings: str) -> PointSpec:
    """Return the specification of one point; the content of a scenario file is part of it."""
    if options.scenario is not None:
        if operation != "scenario":
            raise BadInput(
                f"a scenario file says what users do, and so does {operation!r}",
                "leave one of them out",
            )
        read(options.scenario)
        content = Path(options.scenario).read_bytes()
        settings["scenario_digest"] = hashlib.sha256(content).hexdigest()
    return points.point(SUITE, options, operation, **settings)


def endpoint(
    target: OpenSite, options: PsOptions, own: tuple[Path, str] | None = None
) -> points.Endpoint:
    """Return where points are measured."""
    return points.Endpoint(SUITE, target, options, LocustOptions, own=own)


def stage(options: PsOptions, operation: str, progress: Progress) -> Stage:
    """Return one point."""

    def writes() -> bool:
        if options.scenario is not None:
            return read(options.scenario).writes
        return SCENARIOS[operation].writes

    return points.stage(
        f"making {options.target} ready with {options.entries:,} people",
        [point(options, operation)],
        lambda: open_target(options, progress),
        lambda target, own: endpoint(target, options, own),
        assure_own=_assuring(options, operation, writes),
    )


def _assuring(options: PsOptions, operation: str, writes: Callable[[], bool]) -> Callable[[], None]:
    def assure() -> None:
        if options.target not in OWN_TARGETS and writes():
            assure_own(options, f"the operation {operation!r}")

    return assure


def api_stage(
    operation: str | Scenario,
    target: str | PersonalizedSite,
    entries: int | None,
    load: dict[str, Any],
) -> Stage:
    """Return the one point that `sitebench.run` measures."""
    own, settings = None, {}
    if isinstance(operation, str):
        name, scenario = operation, SCENARIOS[operation]
    else:
        name, scenario = operation.name, operation
        settings = {"scenario": repr(operation.without_credentials())}
        own = Own("ps_bench.users", "SiteUser", "scenario", operation)
    if isinstance(target, str):
        options = PsOptions(target=target, entries=entries or 10_000, **load)
        writes = scenario.writes
    else:
        tls_ca = target.ca or load["tls_ca"]
        load = {**load, "target": target.url, "tls_ca": tls_ca, "seed": target.seed}
        options = PsOptions(entries=entries or target.size, locales=target.locales, **load)
        writes = False
    return points.stage(
        options.target,
        [point(options, name, **settings)],
        lambda: _open(options, target),
        lambda there, own: endpoint(there, options, own),
        assure_own=_assuring(options, name, lambda: writes),
        own=own,
    )


def _open(
    options: PsOptions, target: str | PersonalizedSite
) -> contextlib.AbstractContextManager[OpenSite]:
    if isinstance(target, str):
        return open_target(options)
    return OpenSite("the site", parse_address(target.url), **known(target, options))


def manifest(options: TestOptions, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the suite's facts about a run; those of a scenario file are its text."""
    people = UpdSpec(max(sizes), options.seed, options.locales)
    population = {"digest": visitors(people).digest, "seed": options.seed}
    more = {}
    if options.scenario is not None:
        more["scenario"] = Path(options.scenario).read_text(encoding="utf-8")
    return points.manifest(options, sizes, population, **more)
