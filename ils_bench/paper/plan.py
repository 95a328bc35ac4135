"""The directory suite in the planner: 1997's inputs and answers, as its workbook prints them.

"Performance Analysis and Capacity Planning for Microsoft Site Server on Compaq ProLiant Servers",
Compaq, September 1997: Appendix A (pages 22 to 24). The workbook's Add row for the ProLiant 2500 is
not that of the paper's Table 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ils_bench.suite import SUITE
from sitebench import units
from sitebench.options import option
from sitebench.plan.model import Scenario, solve, whole
from sitebench.plan.options import ACTIVE, PlanOptions, preset_option
from sitebench.plan.parse import Pairs, parse_mix, parse_rates
from sitebench.plan.rates import RateTable
from sitebench.plan.suite import PlanSuite, Printed

SESSION_S = 1_200.0
MIX = {"connect": 1.0, "add": 1.0, "lookup": 6.0}
SCENARIO = Scenario(ACTIVE, SESSION_S, MIX)

MACHINES = {
    "paper-2500": RateTable(
        "ProLiant 2500 (1997)",
        (500, 1_000, 5_000, 10_000),
        {
            "connect": (503.0, 500.0, 449.0, 462.0),
            "add": (846.0, 864.0, 857.0, 840.0),
            "lookup": (935.0, 921.0, 905.0, 900.0),
        },
    ),
    "paper-7000": RateTable(
        "ProLiant 7000 (1997)",
        (500, 1_000, 5_000, 10_000),
        {
            "connect": (787.0, 757.0, 806.0, 783.0),
            "add": (1276.0, 1360.0, 1328.0, 941.0),
            "lookup": (1539.0, 1532.0, 1512.0, 1485.0),
        },
    ),
}

SIZE = 10_000
"""The largest directory measured; the workbook does not say which column it takes."""

PRINTED = (Printed("paper-2500", 3_946, 98_639), Printed("paper-7000", 7_842, 196_052))

UNPRINTED = {"paper-2500": (3.4, 10_000), "paper-7000": (6.8, 5_000)}
"""What would explain the directory's printed answers: an operation that the paper does not print,
once per session, at so many per second, with the printed rates of this size. Inferred from the
answers, not read anywhere; docs/planner.md has the reasons. No plan uses it."""


def _show_pairs(pairs: Pairs) -> str:
    return option.joined(tuple(f"{name}={value:g}" for name, value in pairs))


@dataclass(frozen=True)
class DirectoryPlanOptions(PlanOptions):
    """What `sitebench plan ils` takes."""

    preset: str | None = preset_option(MACHINES)
    session: float = option.duration(SESSION_S, "Length of a user's session.", panel="Load")
    mix: Pairs = option.parsed(
        tuple(MIX.items()),
        "Operations per session, such as lookup=10,add=1,retrieve=0.5.",
        parse=parse_mix,
        show=_show_pairs,
        metavar="LIST",
        panel="Load",
    )
    rates: Pairs | None = option.parsed(
        None,
        "Operations/s of one machine, such as connect=462,add=840,lookup=900.",
        parse=parse_rates,
        show=_show_pairs,
        metavar="LIST",
        panel="Target",
    )

    def scenario(self, objective: tuple[float, float] | None) -> Scenario:
        """Return sessions of these operations."""
        return Scenario(
            self.active, self.session, dict(self.mix), self.headroom, self.community, objective
        )

    def typed_in(self) -> RateTable | None:
        """Return --rates."""
        return None if self.rates is None else RateTable.typed_in(dict(self.rates))


def _explain() -> list[str]:
    return [
        f"It is not the column: our law gives {_range()} simultaneous users with the rates of "
        "other sizes.",
        f"No mix of the printed rates gives both printed answers: these are {_answers():.2f} times "
        f"apart, and the printed rates of the two machines {_rates():.2f} times at most.",
        f"An operation that is not printed, once per session at {_unprinted()}, would give them; "
        "docs/planner.md has the reasons to think so. No formula here was bent to meet them.",
    ]


def _range() -> str:
    said = []
    for table in MACHINES.values():
        ours = [solve(SCENARIO, table.at(size))["simultaneous"] for size in table.sizes]
        said.append(f"{whole(min(ours)):,} to {whole(max(ours)):,}")
    return " and ".join(said)


def _answers() -> float:
    """Return by how much the printed answers of two machines differ."""
    ((less, more),) = pairwise(PRINTED)
    return more.community / less.community


def _rates() -> float:
    """Return by how much any printed rate of two machines differs, at most."""
    less, more = MACHINES.values()
    return max(
        high / low
        for name in less.rates
        for low, high in zip(less.rates[name], more.rates[name], strict=True)
        if low and high
    )


def _unprinted() -> str:
    return " and ".join(
        f"{rate:g}/s (with the rates at {units.format_size(size)})"
        for rate, size in UNPRINTED.values()
    )


PLAN = PlanSuite(
    name=SUITE.name,
    title=f"{SUITE.title} ({SUITE.name.upper()})",
    help="""Plan a directory of online users, from a run, typed-in rates or 1997's.

    sitebench plan ils

    sitebench plan ils run.sitebench --community 2m --headroom 30% --objective 'p99<5ms'

    sitebench plan ils --rates lookup=40k,add=12k --mix lookup=10,add=1 --session 1h --active 10%

    sitebench plan ils run.sitebench --xlsx plan.xlsx
    """,
    options=DirectoryPlanOptions,
    people_in="directory",
    operation=lambda each: each.spec.operation,
    rate=lambda result: result.ops_per_s,
    scenario=SCENARIO,
    presets=MACHINES,
    size=SIZE,
    printed=PRINTED,
    explain=_explain,
)
"""What the planner has to know of the suite."""
