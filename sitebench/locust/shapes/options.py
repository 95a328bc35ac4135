"""Options of the load shapes, besides Locust's own users, spawn rate and run time."""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.options import option


@dataclass(frozen=True)
class ShapeOptions:
    """The shape, and the parameters of those that are ready to use."""

    shape: str | None = option.text(
        None,
        "Class of the load shape (default: the first in the locustfiles).",
        "CLASS",
        form=False,
    )
    step_users: int = option.size(8, "Users added by each step of Steps, up to -u.", "N")
    step_time: float = option.duration(10.0, "Length of each step of Steps.")
    calm_users: int = option.size(
        8, "Users of Spike before and after the spike, which has those of -u.", "N"
    )
    calm_time: float = option.duration(
        10.0, "Length of the calm before and after the spike of Spike."
    )
    spike_time: float = option.duration(5.0, "Length of the spike of Spike.")
