from __future__ import annotations

from collections.abc import Sequence

from sitebench.counts.source import SEQUENCE
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Observed
from sitebench.suite_base.suite_run import BaseSuiteRun
from web_bench.docroot import docroot_of
from web_bench.options import WebOptions
from web_bench.paper.figures import figures, warnings
from web_bench.points import POINTS
from web_bench.targets.opening import OpenWeb
from web_bench.workload import Workload


class WebRun(BaseSuiteRun[WebOptions, Workload, OpenWeb]):
    points = POINTS

    def make_data(
        self, options: WebOptions, programs: Sequence[Workload], preparing: Preparing
    ) -> None:
        preparing.run_with_progress(lambda progress: docroot_of(options, programs, progress))

    def counted_steps(self, program: Workload) -> Sequence[tuple[str, str]]:
        """Return the rows of whole requests, because the papers' latency includes connecting.

        If an operation of a scenario file has several requests, operations are counted instead.
        """
        if program.counts is None:
            return program.counted_rows
        # On a schedule, the sequence of steps counts, which is a single request here.
        return [(program.name, "request" if self.options().rate is None else SEQUENCE)]

    def observe(self, target: OpenWeb, programs: Sequence[Workload]) -> Observed:
        return Observed(
            figures=lambda measured: figures(measured, programs),
            warnings=lambda spec, measured: (*target.warnings(), *warnings(measured)),
        )
