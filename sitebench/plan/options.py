"""Options of the planner."""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.measure.objective import Objective
from sitebench.measure.options import objective_option
from sitebench.options import option
from sitebench.plan.paper import ACTIVE, ILS, MIX, SESSION_S, VIEW_S
from sitebench.plan.parse import Pairs, parse_mix, parse_rates


def _show_pairs(pairs: Pairs) -> str:
    return option.joined(tuple(f"{name}={value:g}" for name, value in pairs))


@dataclass(frozen=True)
class PlanOptions:
    """What the planner takes for any suite."""

    community: int | None = option.size(
        None, "People in the community to plan machines for.", panel="People"
    )
    active: float = option.percent(
        ACTIVE, "Share of the community that is active at any one time.", panel="People"
    )
    headroom: float = option.percent(
        0.0, "Share of each machine's capacity to leave free (the paper's: 0%).", panel="Target"
    )
    objective: Objective | None = objective_option(
        "Latency objective, such as 'p99<50ms', judged by the measured loads of RUN, or by an "
        "estimate from the rates alone.",
        panel="Target",
    )
    preset: str | None = option.choice(
        None, "1997's machine to take the rates of.", *ILS, panel="Target"
    )
    size: int | None = option.size(
        None,
        "Size whose rates are taken (default: the smallest measured one that the answer fits).",
        panel="Target",
    )
    target: str | None = option.text(
        None, "Target whose rates are taken, where RUN has several.", "TARGET", panel="Target"
    )
    json: bool = option.flag("JSON instead of tables.", panel="Output")
    xlsx: str | None = option.file(
        "Workbook to write, with live formulas for every suite.", panel="Output"
    )


@dataclass(frozen=True)
class IlsPlanOptions(PlanOptions):
    """What `sitebench plan ils` takes."""

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


@dataclass(frozen=True)
class PsPlanOptions(PlanOptions):
    """What `sitebench plan ps` takes."""

    view_time: float = option.duration(VIEW_S, "Time between a visitor's page views.", panel="Load")
    pages_per_s: float | None = option.rate(None, "Pages/s of one machine.", panel="Target")
