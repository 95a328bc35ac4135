from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ps_bench.options import PsOptions
from ps_bench.paper.figures import figures
from ps_bench.points import POINTS
from ps_bench.targets.opening import database_of
from sitebench.http.site import OpenSite
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Observed
from sitebench.scenario.script import Script
from sitebench.suite_base.suite_run import BaseSuiteRun


class PsRun(BaseSuiteRun[PsOptions, Script, OpenSite]):
    points = POINTS

    def make_data(
        self, options: PsOptions, programs: Sequence[Script], preparing: Preparing
    ) -> None:
        preparing.run_with_progress(lambda progress: database_of(options, progress))

    def observe(self, target: OpenSite, programs: Sequence[Script]) -> Observed:
        observed = super().observe(target, programs)
        return replace(observed, figures=lambda measured: figures(measured, programs))
