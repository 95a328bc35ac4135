"""The site suite's part of a Locust test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ps_bench import points
from ps_bench.options import LocustOptions, PsOptions
from ps_bench.paper.figures import figures
from ps_bench.suite import SUITE
from ps_bench.targets.opening import OWN_TARGETS, assure_pages, database_of, open_target, spec_of
from seeders.upd import visitors
from sitebench._engine import Engine
from sitebench.http import scenario_file
from sitebench.http.engine_config import engine_config
from sitebench.http.scenario import Scenario
from sitebench.http.site import OpenSite, assure_own, open_live, parse_address
from sitebench.locust.preparing import Preparing
from sitebench.suite_base.suite_run import BaseSuiteRun, LoadJob
from sitebench.targets.tls import Trust

if TYPE_CHECKING:
    from sitebench.http.fasthttp_lane import FastHttpLanes


class PsRun(BaseSuiteRun[Scenario, OpenSite]):
    suite = SUITE
    points = points
    locust_options = LocustOptions
    point_options = PsOptions
    own_targets = OWN_TARGETS
    program = text_option = "scenario"

    def check(self, options: LocustOptions, users: Sequence[type[Any]]) -> None:
        """Raise unless a scenario file can be read, and a site of the user's can run it."""
        if options.scenario is not None:
            scenario_file.read(options.scenario)
        super().check(options, users)
        if options.target not in OWN_TARGETS:
            assure_pages(open_live(options), self.programs(options, users))

    def start(
        self, options: LocustOptions, preparing: Preparing
    ) -> AbstractContextManager[OpenSite]:
        """Start the embedded site, on a copy of its database."""
        # Built in a thread; opening the site then finds it.
        preparing.run_with_progress(lambda progress: database_of(options, progress))
        return open_target(options)

    def open_live(self, options: LocustOptions) -> OpenSite:
        return open_live(options)

    def assure_own(self, options: LocustOptions, what: str) -> None:
        assure_own(options, what)

    def prepare_more(
        self, options: Any, target: OpenSite, processes: int, preparing: Preparing
    ) -> dict[str, Any]:
        """Raise unless the site has the pages that are asked of it."""
        assure_pages(target, self.programs(options))
        return {}

    def target_in(self, prepared: Mapping[str, Any], options: LocustOptions) -> OpenSite:
        address, trust = parse_address(prepared["url"]), Trust(**prepared["trust"])
        return OpenSite(options.target, address, trust=trust)

    def build(self, user: type[Any], options: LocustOptions) -> Scenario:
        scenario: Scenario = user.build(options)
        return scenario

    def counts(self, program: Scenario) -> Sequence[tuple[str, str]]:
        return program.counted

    def observe(self, target: OpenSite, programs: Sequence[Scenario]) -> dict[str, Any]:
        """Add the paper's figures to a result."""
        more = super().observe(target, programs)
        return {**more, "figures": lambda measured: figures(measured, programs)}

    def engine(self, job: LoadJob[Scenario, OpenSite]) -> Engine:
        config = engine_config(
            job.options,
            job.target.address,
            job.programs,
            slot=job.slot,
            trust=job.target.trust,
        )
        return Engine(config, visitors(spec_of(job.options)))

    def portable(self, job: LoadJob[Scenario, OpenSite]) -> FastHttpLanes:
        from sitebench.http.fasthttp_lane import FastHttpLanes

        return FastHttpLanes(
            self.environment,
            job.target.address,
            visitors(spec_of(job.options)),
            job.programs,
            options=job.options,
            slot=job.slot,
            trust=job.target.trust,
        )
