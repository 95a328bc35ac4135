"""Points of the site half, and the targets they are measured at."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ps_bench.options import LocustOptions, PsOptions, TestOptions
from ps_bench.scenarios import SCENARIOS
from ps_bench.suite import SUITE
from ps_bench.targets.opening import open_target
from seeders.upd import Progress, UpdSpec, visitors
from sitebench.errors import BadInput
from sitebench.http.open_site import OpenSite, assure_own
from sitebench.http.scenario import Scenario
from sitebench.http.scenario_file import read
from sitebench.measure.point_process import Gathering, PointCommand
from sitebench.measure.sweep import Stage
from sitebench.options import convert
from sitebench.options.option import fields_of
from sitebench.runs.point import PointSpec


def point(options: PsOptions, operation: str) -> PointSpec:
    """Return the specification of one point; what a scenario file says is a part of it."""
    settings = convert.to_texts(options)
    if options.scenario is not None:
        if operation != "scenario":
            raise BadInput(
                f"a scenario file says what users do, and so does {operation!r}",
                "leave one of them out",
            )
        read(options.scenario)
        content = Path(options.scenario).read_bytes()
        settings["scenario_digest"] = hashlib.sha256(content).hexdigest()
    return PointSpec(
        half="ps",
        operation=operation,
        entries=options.entries,
        target=options.target,
        users=options.users,
        rate=options.rate,
        warmup_s=options.warmup,
        measure_s=options.measure or 0.0,
        client=options.client,
        settings=settings,
    )


@dataclass(frozen=True)
class SiteEndpoint:
    """An open site that points are measured at."""

    site: OpenSite
    options: PsOptions

    def command(self, spec: PointSpec) -> PointCommand:
        """Return how to measure a point here."""
        values = {each.name: getattr(self.options, each.name) for each, _ in fields_of(PsOptions)}
        here = replace(
            LocustOptions(**values),
            target=str(self.site.address),
            i_own_this_target=self.options.i_own_this_target or self.site.disposable,
            tls=False,
            tls_ca=self.site.ca,
            rate=spec.rate,
            measure=spec.measure_s or None,
        )
        return PointCommand(
            *self.users(spec),
            convert.to_argv(here),
            self.site.pid,
            self.site.cores,
            Gathering.of(self.options),
        )

    def users(self, spec: PointSpec) -> tuple[Path, str]:
        """Return the locustfile, and the class in it that does the operation."""
        return SUITE.locustfile_path(), SUITE.operations[spec.operation]

    def check(self) -> None:
        """Raise when the site is not there any more."""
        self.site.check()

    def facts(self) -> dict[str, Any]:
        """Return its name, version and configuration, as far as it tells."""
        return {"name": self.site.name, **self.site.facts}


def stage(options: PsOptions, operation: str, progress: Progress) -> Stage:
    """Return one point with a target of its own: each starts from the same database."""

    @contextlib.contextmanager
    def opened() -> Iterator[SiteEndpoint]:
        if options.target != "embedded" and _scenario(options, operation).writes:
            assure_own(options, f"the operation {operation!r}")
        with open_target(options, progress) as site:
            yield SiteEndpoint(site, options)

    title = f"making {options.target} ready with {options.entries:,} people"
    return Stage(title, [point(options, operation)], opened)


def _scenario(options: PsOptions, operation: str) -> Scenario:
    return SCENARIOS[operation] if options.scenario is None else read(options.scenario)


def with_size(options: TestOptions, size: int) -> PsOptions:
    """Return one size's options from those of a sweep."""
    found = {each.name: getattr(options, each.name) for each, _ in fields_of(type(options))}
    wanted = {each.name for each, _ in fields_of(PsOptions)}
    return PsOptions(**{k: v for k, v in found.items() if k in wanted} | {"entries": size})


def manifest(options: TestOptions, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the site half's facts about a run."""
    people = UpdSpec(max(sizes), options.seed, options.locales)
    facts: dict[str, Any] = {
        "population": {"digest": visitors(people).digest, "seed": options.seed},
        "target": options.target,
        "sizes": list(sizes),
    }
    if options.scenario is not None:
        facts["scenario"] = Path(options.scenario).read_text(encoding="utf-8")
    return facts
