"""What load shapes take, beside Locust's own users, spawn rate and run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitebench import units
from sitebench.options.option import option


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
        "Class of the load shape; default: the first in the locustfiles.",
        metavar="CLASS",
        form=False,
    )
    step_users: int = _users(8, "Users added by each step of Steps, up to -u.")
    step_time: float = _time(10.0, "Length of each step of Steps.")
    calm_users: int = _users(8, "Users of Spike before and after the spike, which has those of -u.")
    calm_time: float = _time(10.0, "Length of the calm before and after the spike of Spike.")
    spike_time: float = _time(5.0, "Length of the spike of Spike.")
