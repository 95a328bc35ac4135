"""The site suite in the planner: 1997's inputs and answers, as its workbook prints them.

"Performance Analysis and Capacity Planning for Microsoft Site Server on Compaq ProLiant Servers",
Compaq, September 1997: Appendix A (pages 22 to 24), and Tables 13 and 14 for the rates at other
sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ps_bench.suite import SUITE
from sitebench.options import option
from sitebench.plan.model import Scenario
from sitebench.plan.options import ACTIVE, PlanOptions, preset_option
from sitebench.plan.rates import PAGES, RateTable
from sitebench.plan.suite import PlanSuite, Printed

VIEW_S = 25.0

MACHINES = {
    "paper-2500": RateTable(
        "ProLiant 2500 (1997)",
        (1_000, 10_000, 100_000, 1_000_000),
        {PAGES: (49.6, 43.5, 37.2, 32.1)},
    ),
    "paper-7000": RateTable(
        "ProLiant 7000 (1997)",
        (1_000, 10_000, 100_000, 1_000_000),
        {PAGES: (63.0, 57.3, 51.8, 47.1)},
    ),
}

SIZE = 10_000
"""The size whose rates the workbook gives as its example (43.5 and 57.3 pages/s)."""


@dataclass(frozen=True)
class SitePlanOptions(PlanOptions):
    """What `sitebench plan ps` takes."""

    preset: str | None = preset_option(MACHINES)
    view_time: float = option.duration(VIEW_S, "Time between a visitor's page views.", panel="Load")
    pages_per_s: float | None = option.rate(None, "Pages/s of one machine.", panel="Target")

    def scenario(self, objective: tuple[float, float] | None) -> Scenario:
        """Return people who look at pages."""
        return Scenario(
            self.active,
            self.view_time,
            headroom=self.headroom,
            community=self.community,
            objective=objective,
        )

    def typed_in(self) -> RateTable | None:
        """Return --pages-per-s."""
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
    options=SitePlanOptions,
    people_in="database",
    operation=lambda each: PAGES if each.spec.operation == "scenario" else None,
    rate=lambda result: result.figures.get("web_pages_per_s"),
    scenario=Scenario(ACTIVE, VIEW_S),
    presets=MACHINES,
    size=SIZE,
    printed=(Printed("paper-2500", 1_088, 27_188),),
)
"""What the planner has to know of the suite."""
