"""The site suite in the planner.

The paper's workbook has one size's rates; Tables 13 and 14 have the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from ps_bench.paper.figures import figure_of
from ps_bench.paper.printed import SIZES_1997, TABLES_1997, WORKBOOK_1997, machine_of
from ps_bench.suite import SUITE
from sitebench.options import option
from sitebench.plan.model import Scenario
from sitebench.plan.options import ACTIVE, PlanOptions, preset_option
from sitebench.plan.rates import PAGES, RateTable
from sitebench.plan.suite import PlanSuite, PrintedAnswer

_VIEW_S = float(WORKBOOK_1997["view_s"])

_MACHINES = {
    preset: RateTable(
        f"{machine_of(table)} (1997)",
        SIZES_1997,
        {PAGES: tuple(map(float, TABLES_1997[table]["Web pages requested/sec"]))},
    )
    for preset, table in WORKBOOK_1997["machines"].items()
}


@dataclass(frozen=True)
class _SitePlanOptions(PlanOptions):
    """Options of `sitebench plan ps`."""

    preset: str | None = preset_option(_MACHINES)
    view_time: float = option.duration(
        _VIEW_S, "Time between a visitor's page views.", panel="Load"
    )
    pages_per_s: float | None = option.rate(None, "Pages/s of one machine.", panel="Target")

    def scenario(self, objective: tuple[float, float] | None) -> Scenario:
        return Scenario(
            self.active,
            self.view_time,
            headroom=self.headroom,
            community=self.community,
            objective=objective,
            cores=self.cores,
            burst=self.burst,
        )

    def typed_in(self) -> RateTable | None:
        rate = self.pages_per_s
        return None if rate is None else RateTable.typed_in({PAGES: rate})


PLAN = PlanSuite(
    name=SUITE.name,
    title=f"{SUITE.title} ({SUITE.name.upper()})",
    help="""Plan a personalized site, from a run, typed-in rates or 1997's.

    sitebench plan ps --pages-per-s 43.5 --view-time 25s --active 4%

    sitebench plan ps run.sitebench --community 1m --headroom 30%

    sitebench plan ps --preset paper-7000 --objective 'p90<500ms' --json
    """,
    options=_SitePlanOptions,
    people_in="database",
    operation=lambda each: PAGES if each.spec.operation == "scenario" else None,
    rate=figure_of("web_pages_per_s"),
    scenario=Scenario(ACTIVE, _VIEW_S),
    presets=_MACHINES,
    size=WORKBOOK_1997["size"],
    printed=[PrintedAnswer(preset, **each) for preset, each in WORKBOOK_1997["answers"].items()],
)
"""The planner's part of the suite."""
