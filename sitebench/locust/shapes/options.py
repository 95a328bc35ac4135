"""What load shapes take, beside Locust's own users, spawn rate and run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitebench import units
from sitebench.errors import UnknownValue
from sitebench.measure.objective import Objective
from sitebench.options.option import option


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 < factor <= 10:
        raise UnknownValue(f"{text!r} is no factor above 1, up to 10", "write 2, say")
    return factor


def _time(default: float, explanation: str) -> Any:
    return option(
        default,
        explanation,
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )


def _users(default: int, explanation: str) -> Any:
    return option(default, explanation, parse=units.parse_size, show=units.format_size, metavar="N")


@dataclass(frozen=True)
class ShapeOptions:
    """The shape, and the parameters of those that are ready to use."""

    shape: str | None = option(
        None,
        "Which load shape, by its class; by default the first in the locustfiles.",
        metavar="CLASS",
        form=False,
    )
    step_users: int = _users(8, "Users that each step of Steps adds, up to -u.")
    step_time: float = _time(10.0, "How long each step of Steps lasts.")
    calm_users: int = _users(8, "Users of Spike before and after it; in it, those of -u.")
    calm_time: float = _time(10.0, "How long Spike is calm, before and after.")
    spike_time: float = _time(5.0, "How long the spike of Spike lasts.")
    climb_users: int = _users(1, "Users that RampToKnee begins with, to go up as far as -u.")
    climb_factor: float = option(
        2.0,
        "How many times the users of a load the next one of RampToKnee has.",
        parse=_factor,
        show=lambda factor: f"{factor:g}",
        metavar="FACTOR",
    )
    climb_time: float = _time(5.0, "How long RampToKnee watches each load.")
    objective: Objective | None = option(  # noqa: RUF009 -- a field, as all others
        None,
        "What ends the climb of RampToKnee when it breaks, such as 'p99<5ms,failures<0.1%'.",
        parse=Objective.parse,
        metavar="LIST",
    )
