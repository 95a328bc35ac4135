"""The site suite's part of a Locust test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ps_bench.options import LocustOptions
from ps_bench.paper.figures import figures
from ps_bench.points import POINTS
from ps_bench.targets.opening import database_of, spec_of
from sitebench._engine import Engine, PortableUsers, Table
from sitebench.http.address import parse_address
from sitebench.http.engine_config import engine_config
from sitebench.http.site import OpenSite
from sitebench.locust.prepared import Prepared
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Observed
from sitebench.scenario.script import Script
from sitebench.seeders.upd import visitors
from sitebench.suite_base.scripts import Data
from sitebench.suite_base.suite_run import BaseSuiteRun, LoadJob

if TYPE_CHECKING:
    from sitebench.http.fasthttp_lane import FastHttpLanes


class PsRun(BaseSuiteRun[Script, OpenSite]):
    points = POINTS
    more = Data

    def prepare_more(
        self, options: LocustOptions, target: OpenSite, processes: int, preparing: Preparing
    ) -> Data:
        return Data.of(self.programs(options))

    def make_data(
        self, options: LocustOptions, programs: Sequence[Script], preparing: Preparing
    ) -> None:
        """Make the database, in a thread."""
        preparing.run_with_progress(lambda progress: database_of(options, progress))

    def target_in(self, prepared: Prepared[None]) -> OpenSite:
        address = parse_address(prepared.url)
        return OpenSite(prepared.options.target, address, trust=prepared.trust)

    def observe(self, target: OpenSite, programs: Sequence[Script]) -> Observed:
        """Add the paper's figures to a result."""
        more = super().observe(target, programs)
        return {**more, "figures": lambda measured: figures(measured, programs)}

    def engine(self, job: LoadJob[Script, OpenSite]) -> Engine:
        return Engine(_config(job), visitors(spec_of(job.options)), tables=_tables(job))

    def portable(self, job: LoadJob[Script, OpenSite]) -> FastHttpLanes:
        from sitebench.http.fasthttp_lane import FastHttpLanes

        people = visitors(spec_of(job.options))
        return FastHttpLanes(
            self.environment,
            job.target.address,
            PortableUsers(_config(job), people, tables=_tables(job)),
            options=job.options,
            trust=job.target.trust,
        )


def _config(job: LoadJob[Script, OpenSite]) -> str:
    return engine_config(
        job.options, job.target.address, job.programs, slot=job.slot, trust=job.target.trust
    )


def _tables(job: LoadJob[Script, OpenSite]) -> dict[str, Table]:
    tables: dict[str, Table] = job.prepared.more.tables(job.programs)
    return tables
