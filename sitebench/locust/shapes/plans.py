"""How many users a load shape wants at each moment, and the options of the shapes.

Plans are pure functions of the time since the shape began.

StepsPlan                         SpikePlan

top |      ___                  top |     _       _
|   __|   |                     |    | |     | |
|__|      |                calm |____| |_____| |__
+--------------> s              +----------------> s
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from sitebench.errors import BadInput
from sitebench.frozen import frozen
from sitebench.options import option

_GAIN = 1.1
"""Below the knee, twice the users do nearly twice as much; what is measured varies by less."""


@frozen
class ShapeOptions:
    """The shape, and the parameters of those that are ready to use, besides Locust's own."""

    shape: str | None = option.text(
        None,
        "Class of the load shape (default: the first in the locustfiles).",
        "CLASS",
        form=False,
    )
    step_users: int = option.size(
        8, "Users added by each step of Steps, and the first ones of Knee, up to -u.", "N"
    )
    step_time: float = option.duration(10.0, "Length of each step of Steps and Knee.")
    step_down: bool = option.flag("Steps go down again by the same steps.")
    calm_users: int = option.size(
        8, "Users of Spike before and after the spike, which has those of -u.", "N"
    )
    calm_time: float = option.duration(
        10.0, "Length of the calm before and after the spike of Spike."
    )
    spike_time: float = option.duration(5.0, "Length of the spike of Spike.")


class ShapePlan(Protocol):
    """A number of users for each moment, and an end."""

    @property
    def lasts_s(self) -> float:
        """The length of one pass; with `-t` a test goes on after it, as `users_at` says."""

    def users_at(self, elapsed_s: float) -> int:
        """Return the number of users."""


@frozen
class StepsPlan:
    """Adds `step_users` with each step, up to `top`; with `down` it takes them away again.

    The last step goes on.
    """

    top: int
    step_users: int
    step_s: float
    down: bool = False

    @property
    def lasts_s(self) -> float:
        """Every step, the highest once."""
        return (self._steps + (self._steps - 1 if self.down else 0)) * self.step_s

    def users_at(self, elapsed_s: float) -> int:
        """Return the step's users."""
        step, highest = int(elapsed_s / self.step_s), self._steps - 1
        if self.down and step > highest:
            step = max(0, 2 * highest - step)
        return min(self.top, (step + 1) * self.step_users)

    @property
    def _steps(self) -> int:
        return math.ceil(self.top / self.step_users)


@frozen
class SpikePlan:
    """Few users, `top` for a moment, few again; then the same over and over."""

    top: int
    calm_users: int
    calm_s: float
    spike_s: float

    def __post_init__(self) -> None:
        if self.calm_users >= self.top:
            raise BadInput(
                f"--calm-users ({self.calm_users}) must be fewer than -u ({self.top})",
                "give more users with -u, or fewer with --calm-users",
            )

    @property
    def lasts_s(self) -> float:
        """One spike, with the calm before it and after it."""
        return self.calm_s + self.spike_s + self.calm_s

    def users_at(self, elapsed_s: float) -> int:
        """Return the users of calm or spike."""
        calm = elapsed_s % (self.calm_s + self.spike_s) < self.calm_s
        return self.calm_users if calm else self.top


@dataclass
class KneePlan:
    """Twice as many users with each step, while that makes the rate higher by a tenth or more.

    Then those of the best step once more, so that it is they who are measured last.
    """

    top: int
    users: int
    best: tuple[int, float] | None = None
    found: bool = False

    def after_step(self, rate: float) -> bool:
        """Set the users of the next step by the rate of this one; returns whether there is one."""
        if self.found:
            return False
        if self.best is not None and rate < _GAIN * self.best[1]:
            self.users, self.found = self.best[0], True
        elif self.users >= self.top:
            return False
        else:
            self.best, self.users = (self.users, rate), min(self.top, 2 * self.users)
        return True


def refuse_slow_spawning(most_at_once: int, per_s: float, within_s: float) -> None:
    """Raise if users of one stage would still be starting when the next one begins."""
    if most_at_once > per_s * within_s:
        raise BadInput(
            f"starting {most_at_once} users at {per_s:g} a second takes longer than the "
            f"{within_s:g} s that the shape gives them",
            f"start them faster: -r {math.ceil(most_at_once / within_s)} or more",
        )
