"""What the suite for personalized sites measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ps_bench.options import LocustOptions, PsOptions
from ps_bench.scenarios import SCENARIOS
from ps_bench.suite import SUITE
from ps_bench.targets.opening import OWN_TARGETS, assure_pages, open_target
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.http.address import parse_address
from sitebench.http.scenario import Scenario
from sitebench.http.scenario_file import read, variables
from sitebench.http.site import OpenSite, assure_own, open_live
from sitebench.seeders.pools import cache_folder
from sitebench.seeders.upd import UpdSpec, visitors
from sitebench.suite_base.points import OwnUser, Progress, SuitePoints
from sitebench.targets.in_process import known


class PsPoints(SuitePoints[Scenario, OpenSite]):
    suite = SUITE
    options = PsOptions
    locust_options = LocustOptions
    own_targets = OWN_TARGETS
    user = OwnUser("ps_bench.users", "SiteUser", "scenario")
    by_file = "scenario"

    def program(self, options: Any, operation: str) -> Scenario:
        if operation == self.by_file and options.scenario is not None:
            return read(options.scenario)
        return SCENARIOS[operation]

    def open(
        self,
        options: Any,
        programs: Sequence[Scenario],
        progress: Progress = lambda done, total: None,
    ) -> AbstractContextManager[OpenSite]:
        site = open_target(options, progress)
        assure_pages(site, programs)
        return site

    def address(self, options: Any, programs: Sequence[Scenario]) -> OpenSite:
        """Address a site that has the pages which the scenarios ask for."""
        site = open_live(options)
        assure_pages(site, programs)
        return site

    def assure_own(self, options: Any, what: str, *, named: bool) -> None:
        assure_own(options, what, named=named)

    def here(
        self, server: PersonalizedSite, entries: int | None, load: dict[str, Any]
    ) -> tuple[PsOptions, OpenSite]:
        """Address a site in this process; its people are those of the test."""
        load = {**load, "target": server.url, "tls_ca": server.ca or load["tls_ca"]}
        load |= {"seed": server.seed, "locales": server.locales}
        options = PsOptions(entries=entries or server.size, **load)
        return options, OpenSite("the site", parse_address(server.url), **known(server, options))

    def population(self, options: Any, size: int) -> Mapping[str, Any]:
        people = UpdSpec(size, options.seed, options.locales)
        return {"digest": visitors(people).digest, "seed": options.seed}

    def data(self, options: Any) -> Path:
        return cache_folder() if options.database is None else Path(options.database)

    def asked(self, options: Any) -> Any:
        """Say which variables a scenario takes out of the environment: it may be a stranger's."""
        if options.scenario is not None and (names := variables(options.scenario)):
            from sitebench.measure.command import say

            shown = ", ".join(f"${name}" for name in names)
            say(f"{options.scenario} sends {shown} of this environment to {options.target}")
        return options

    def described(self, program: Scenario) -> str:
        return repr(program.without_credentials())


POINTS = PsPoints()
