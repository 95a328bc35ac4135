from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.measure.options import objective_option
from sitebench.options import option
from sitebench.plan.model import PERCENTILES, Scenario, wait_factor
from sitebench.plan.rates import RateTable
from sitebench.units import format_size, parse_rate

ACTIVE = 0.04
"""Share of a community that is active at once (the 1997 paper's Appendix A, pages 22 to 24)."""


Pairs = tuple[tuple[str, float], ...]

_EXAMPLE = "lookup=6,add=1"
_NUMBER_REMEDY = "write a number of at least 0, such as lookup=6"


def parse_mix(text: str) -> Pairs:
    """Read operations per session: `connect=1,add=1,lookup=6`."""
    pairs = option.pairs(text, _EXAMPLE)
    return tuple((name, _number(number)) for name, number in pairs.items())


def parse_rates(text: str) -> Pairs:
    """Read operations per second: `connect=462,add=840,lookup=900`."""
    return tuple((name, parse_rate(rate)) for name, rate in option.pairs(text, _EXAMPLE).items())


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise UnknownValue(f"{text!r} is not a number", _NUMBER_REMEDY) from None
    if not 0 <= number < math.inf:
        raise UnknownValue(f"{text!r} is not a number of operations per session", _NUMBER_REMEDY)
    return number


def estimable(objective: Objective) -> tuple[float, float]:
    """Return percentile and bound of the tightest condition, for the queueing estimate."""
    percentile_bounds = []
    for condition in objective.conditions:
        if condition.metric not in PERCENTILES or not condition.operator.startswith("<"):
            raise BadInput(
                f"{condition.text} cannot be estimated from rates: only percentiles can",
                "plan from a run that measured it: sitebench ils peak --objective ...",
            )
        if condition.bound <= 0:
            remedy = "give a time above zero, such as p99<50ms"
            raise BadInput(f"{condition.text} cannot be met", remedy)
        percentile_bounds.append((PERCENTILES[condition.metric], condition.bound))
    return max(percentile_bounds, key=lambda pair: wait_factor(pair[0]) / pair[1])


def preset_option(machines: Iterable[str]) -> str | None:
    return option.choice(None, "Machine of 1997 whose rates are used.", *machines, panel="Target")


def mix_option(default: Pairs, explanation: str) -> Pairs:
    return option.parsed(
        default, explanation, parse=parse_mix, show=_show, metavar="LIST", panel="Load"
    )


def rates_option(explanation: str) -> Pairs | None:
    return option.parsed(
        None, explanation, parse=parse_rates, show=_show, metavar="LIST", panel="Target"
    )


GIGABIT = 1e9
"""Assumed bits/s of a line, if no network card with a known speed was monitored."""


def _show(pairs: Pairs) -> str:
    return option.join_values(tuple(f"{name}={value:g}" for name, value in pairs))


@dataclass(frozen=True)
class PlanOptions:
    community: int | None = option.size(
        None, "People in the community to plan machines for.", panel="Load"
    )
    active: float = option.percent(
        ACTIVE, "Share of the community that is active at any one time.", panel="Load"
    )
    headroom: float = option.percent(
        0.0, "Share of each machine's capacity to leave free (the paper's: 0%).", panel="Target"
    )
    objective: Objective | None = objective_option(
        "Latency objective, such as 'p99<50ms': from the measured loads of RUN, or an estimate "
        "from the rates.",
        panel="Target",
    )
    cores: int = option.count(
        1, "Cores of each machine, for an estimate of the objective from rates.", panel="Target"
    )
    burst: float = option.percent(
        1.0, "Arrivals in the busiest minutes, as a percentage of the average.", panel="Load"
    )
    preset: str | None = preset_option(())
    size: int | None = option.size(
        None,
        "Size whose rates are used (default: the smallest measured size that is large enough).",
        panel="Target",
    )
    target: str | None = option.text(
        None, "Target whose rates are used, if RUN has several.", "TARGET", panel="Target"
    )
    line: float | None = option.parsed(
        None,
        "Bits/s of the line, such as 10m (default: of the network card that RUN monitored, or "
        "1,000m).",
        parse=parse_rate,
        show=lambda bits_per_s: format_size(round(bits_per_s)),
        metavar="BITS_PER_S",
        panel="Target",
    )
    json: bool = option.flag("JSON instead of tables.", panel="Output")
    xlsx: str | None = option.file(
        "Workbook to write, with live formulas for every suite.", panel="Output"
    )

    def scenario(self, objective: tuple[float, float] | None) -> Scenario:
        """Return the scenario; `objective` is set if rates alone have to show that it is met."""
        raise NotImplementedError

    def typed_in(self) -> RateTable | None:
        raise NotImplementedError


@dataclass(frozen=True)
class MixPlanOptions(PlanOptions):
    """Options of a suite whose users do a mix of operations in each session."""

    session: float = option.duration(1.0, "Length of a user's session.", panel="Load")
    mix: Pairs = mix_option((), "Operations per session.")
    rates: Pairs | None = rates_option("Operations/s of one machine.")
    lists: str = option.choice(
        "online",
        "People in each machine's directory: those online, as in 1997, or the whole community.",
        *("online", "all"),
        panel="Target",
    )

    def scenario(self, objective: tuple[float, float] | None) -> Scenario:
        if objective is not None and self.objective and len(self.objective.conditions) > 1:
            raise BadInput(
                f"{self.objective} has several percentiles, but for a mix only one can be "
                "estimated",
                "plan with one percentile at a time, and take the largest number of machines",
            )
        return Scenario(
            self.active,
            self.session,
            dict(self.mix),
            self.headroom,
            self.community,
            objective,
            self.cores,
            self.burst,
            lists_all=self.lists == "all",
        )

    def typed_in(self) -> RateTable | None:
        return None if self.rates is None else RateTable.typed_in(dict(self.rates))
