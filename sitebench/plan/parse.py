"""Mixes, rates and objectives of the command line."""

from __future__ import annotations

import math
from collections.abc import Callable

from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.plan.model import PERCENTILES, wait_factor
from sitebench.units import parse_rate

Pairs = tuple[tuple[str, float], ...]

_NUMBER_REMEDY = "write a number of at least 0, such as lookup=6"


def parse_mix(text: str) -> Pairs:
    """Read operations per session: `connect=1,add=1,lookup=6`."""
    return _pairs(text, _number)


def parse_rates(text: str) -> Pairs:
    """Read operations per second: `connect=462,add=840,lookup=900`."""
    return _pairs(text, parse_rate)


def _pairs(text: str, parse: Callable[[str], float]) -> Pairs:
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not value:
            raise UnknownValue(
                f"cannot read {part.strip()!r}", "write pairs such as lookup=6,add=1"
            )
        if name in numbers:
            raise UnknownValue(f"{name} is given twice in {text!r}", "give it once")
        numbers[name] = parse(value)
    return tuple(numbers.items())


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
    bounds = []
    for condition in objective.conditions:
        if condition.metric not in PERCENTILES or not condition.operator.startswith("<"):
            raise BadInput(
                f"{condition.text} cannot be estimated from rates: only percentiles can",
                "plan from a run that measured it: sitebench ils peak --objective ...",
            )
        if condition.bound <= 0:
            remedy = "give a time above zero, such as p99<50ms"
            raise BadInput(f"{condition.text} cannot be met", remedy)
        bounds.append((PERCENTILES[condition.metric], condition.bound))
    return max(bounds, key=lambda pair: wait_factor(pair[0]) / pair[1])
