"""Points of the site suite: each has a target of its own, a fresh copy of the same database."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ps_bench.options import LocustOptions, PsOptions, TestOptions
from ps_bench.scenarios import SCENARIOS
from ps_bench.suite import SUITE
from ps_bench.targets.opening import OWN_TARGETS, assure_pages, open_target
from ps_bench.targets.personalized_site import PersonalizedSite
from seeders.upd import Progress, UpdSpec, visitors
from sitebench.errors import BadInput
from sitebench.http.scenario import Scenario
from sitebench.http.scenario_file import read
from sitebench.http.site import OpenSite, assure_own, parse_address
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suite_base import points
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
    return points.Endpoint(SUITE, target, options, LocustOptions, own=own)


def stage(options: PsOptions, operation: str, progress: Progress) -> Stage:
    """Return one point."""

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        file = options.scenario
        scenario = SCENARIOS[operation] if file is None else read(file)
        _assure_own(options, operation, scenario)
        with open_target(options, progress) as target:
            assure_pages(target, [scenario])
            yield endpoint(target, options)

    title = f"making {options.target} ready with {options.entries:,} people"
    return Stage(title, [point(options, operation)], opened)


def _assure_own(options: PsOptions, operation: str, scenario: Scenario) -> None:
    """Raise NotYours unless the scenario may write to the site that options name."""
    if options.target not in OWN_TARGETS and scenario.writes:
        assure_own(options, f"the operation {operation!r}")


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
        own = points.Own("ps_bench.users", "SiteUser", "scenario", operation)
    if isinstance(target, str):
        options = PsOptions(target=target, entries=entries or 10_000, **load)
    else:
        tls_ca = target.ca or load["tls_ca"]
        load = {**load, "target": target.url, "tls_ca": tls_ca, "seed": target.seed}
        options = PsOptions(entries=entries or target.size, locales=target.locales, **load)

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        if isinstance(target, str):
            _assure_own(options, name, scenario)
        with _open(options, target) as there, points.own_locustfile(own) as made:
            assure_pages(there, [scenario])
            yield endpoint(there, options, made)

    return Stage(options.target, [point(options, name, **settings)], opened)


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
