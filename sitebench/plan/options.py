"""What may be asked of the planner, each option defined once."""

# ruff: noqa: RUF009 -- option() makes a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass

from sitebench import units
from sitebench.measure.objective import Objective
from sitebench.options.option import choice, joined, option
from sitebench.plan.paper import ACTIVE, ILS, MIX, SESSION_S, VIEW_S
from sitebench.plan.parse import Pairs, parse_mix, parse_rates

_PEOPLE, _MACHINES, _RATES, _OUTPUT = "People", "Machines", "Rates", "Output"


def _show_pairs(pairs: Pairs) -> str:
    return joined(tuple(f"{name}={value:g}" for name, value in pairs))


@dataclass(frozen=True)
class PlanOptions:
    """What both halves' planners ask."""

    active: float = option(
        ACTIVE,
        "Share of the community that is active at any one time.",
        parse=units.parse_percent,
        show=units.format_percent,
        metavar="PERCENT",
        panel=_PEOPLE,
    )
    community: int | None = option(
        None,
        "Plan machines for so many people.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="SIZE",
        panel=_MACHINES,
    )
    headroom: float = option(
        0.0,
        "Share of each machine's time to leave free; 0% is the paper's.",
        parse=units.parse_percent,
        show=units.format_percent,
        metavar="PERCENT",
        panel=_MACHINES,
    )
    objective: Objective | None = option(
        None,
        "What a user must not wait longer than, such as 'p99<50ms': from the loads a run measured, "
        "or estimated where there are only rates.",
        parse=Objective.parse,
        metavar="CONDITIONS",
        panel=_MACHINES,
    )
    preset: str | None = option(
        None,
        f"Plan with the rates of 1997: {' or '.join(ILS)}.",
        parse=choice(*ILS),
        metavar="CHOICE",
        panel=_RATES,
    )
    size: int | None = option(
        None,
        "Take the rates at this many people; by default the least size with room for the answer.",
        parse=units.parse_size,
        show=units.format_size,
        metavar="SIZE",
        panel=_RATES,
    )
    target: str | None = option(
        None,
        "Which target of the run, where it measured several.",
        metavar="TARGET",
        panel=_RATES,
    )
    json: bool = option(False, "Print JSON instead of tables.", panel=_OUTPUT)
    xlsx: str | None = option(
        None,
        "Write a workbook with live formulas for both halves.",
        metavar="FILE",
        panel=_OUTPUT,
    )


@dataclass(frozen=True)
class IlsPlanOptions(PlanOptions):
    """What the directory's planner asks."""

    session: float = option(
        SESSION_S,
        "Length of a user's session.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
        panel=_PEOPLE,
    )
    mix: Pairs = option(
        tuple(MIX.items()),
        "Operations per session, whatever was measured: lookup=10,add=1,retrieve=0.5.",
        parse=parse_mix,
        show=_show_pairs,
        metavar="LIST",
        panel=_PEOPLE,
    )
    rates: Pairs | None = option(
        None,
        "Operations/s of one machine: connect=462,add=840,lookup=900.",
        parse=parse_rates,
        show=_show_pairs,
        metavar="LIST",
        panel=_RATES,
    )


@dataclass(frozen=True)
class PsPlanOptions(PlanOptions):
    """What the site's planner asks."""

    view_time: float = option(
        VIEW_S,
        "Time that a visitor looks at a page.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
        panel=_PEOPLE,
    )
    pages_per_s: float | None = option(
        None,
        "Whole pages/s that one machine delivers.",
        parse=units.parse_rate,
        show=lambda rate: f"{rate:g}",
        metavar="PER_S",
        panel=_RATES,
    )
