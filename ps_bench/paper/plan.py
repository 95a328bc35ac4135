"""Planner of the site suite.

The paper's workbook has the rates of one size; Tables 13 and 14 have the rates of all sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ps_bench.paper.figures import figure_of
from ps_bench.paper.printed import PAPER, machine_of
from ps_bench.suite import SUITE
from sitebench.options import option
from sitebench.plan.model import Scenario
from sitebench.plan.options import ACTIVE, GIGABIT, PlanOptions, preset_option
from sitebench.plan.rates import PAGES, RateTable
from sitebench.plan.suite import Calculation, PlanSuite, PrintedAnswer
from sitebench.plan.traffic import traffic

_VIEW_S = float(PAPER.workbook["view_s"])

_MACHINES = {
    preset: RateTable(
        f"{machine_of(table)} (1997)",
        PAPER.sizes,
        {PAGES: tuple(map(float, PAPER.tables[table]["Web pages requested/sec"]))},
    )
    for preset, table in PAPER.workbook["machines"].items()
}


@dataclass(frozen=True)
class _SitePlanOptions(PlanOptions):
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


_PAGE_BYTES = 8_290.0 + 4 * 5_480.0
"""Bytes of a page with its four images (Table 12). Table 13 agrees: 1.5 MB / 49.6 pages."""


def _calculations(
    options: PlanOptions, rates: Mapping[str, float], values: Mapping[str, float]
) -> list[Calculation]:
    assert isinstance(options, _SitePlanOptions)
    if PAGES not in rates:
        return []
    notes = (
        "The summary of 1997 has 50 and 60 pages a second, 4.3 and 5.2 million a day, of sites of "
        "up to one million people; its tables have that of 1,000, and of a million 2.8 and 4.1.",
        "From a few thousand people who are active on, have the disks in a RAID (1 or 5); 128 MB "
        "of memory are enough (1997).",
        "What else the server does has to be added: measure it, too.",
    )
    return [traffic("pages", rates[PAGES], _PAGE_BYTES, options.line or GIGABIT, notes)]


PLAN = PlanSuite(
    name=SUITE.name,
    title=f"{SUITE.title} ({SUITE.name.upper()})",
    help="""Plan machines of a personalized site from a run, from given rates or from those of 1997.

    sitebench plan ps --pages-per-s 43.5 --view-time 25s --active 4%

    sitebench plan ps run.sitebench --community 1m --headroom 30%

    sitebench plan ps --preset paper-7000 --objective 'p90<500ms' --json
    """,
    options=_SitePlanOptions,
    people_in="database",
    operation=lambda series: (
        PAGES if series.spec.operation == "scenario" or series.spec.of_a_file else None
    ),
    rate=figure_of("web_pages_per_s"),
    scenario=Scenario(ACTIVE, _VIEW_S),
    presets=_MACHINES,
    size=PAPER.workbook["size"],
    calculations=_calculations,
    printed=[
        PrintedAnswer(preset, **answer) for preset, answer in PAPER.workbook["answers"].items()
    ],
)
