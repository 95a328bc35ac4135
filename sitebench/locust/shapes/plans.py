"""How many users a load shape wants at each moment: pure functions of the time since they began.

Staircase                         Rush

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


class Plan(Protocol):
    """A number of users for each moment, and an end."""

    @property
    def lasts_s(self) -> float:
        """How long it takes once; a longer test goes on as `users_at` says."""

    def users_at(self, elapsed_s: float) -> int:
        """Return the number of users."""


@dataclass(frozen=True)
class Staircase:
    """So many users more with each step, up to the top."""

    top: int
    step_users: int
    step_s: float

    @property
    def lasts_s(self) -> float:
        """Every step, the highest too."""
        return math.ceil(self.top / self.step_users) * self.step_s

    def users_at(self, elapsed_s: float) -> int:
        """Return the step's users; the last step goes on."""
        return min(self.top, (int(elapsed_s / self.step_s) + 1) * self.step_users)


@dataclass(frozen=True)
class Rush:
    """Few users, for a moment many, and few again; then anew."""

    top: int
    calm_users: int
    calm_s: float
    spike_s: float

    def __post_init__(self) -> None:
        if self.calm_users >= self.top:
            raise BadInput(
                f"a spike from {self.calm_users} users to {self.top} is none",
                "give more users with -u, or fewer with --calm-users",
            )

    @property
    def lasts_s(self) -> float:
        """One spike, with the calm before it and after it."""
        return self.calm_s + self.spike_s + self.calm_s

    def users_at(self, elapsed_s: float) -> int:
        """Return the users of calm or spike."""
        return (
            self.calm_users if elapsed_s % (self.calm_s + self.spike_s) < self.calm_s else self.top
        )


def refuse_slow_spawning(most_at_once: int, per_s: float, within_s: float) -> None:
    """Raise where users of one stage would still be starting when the next one begins."""
    if most_at_once > per_s * within_s:
        raise BadInput(
            f"{most_at_once} users at {per_s:g} a second take longer than their "
            f"{within_s:g} s of the shape",
            f"start them faster: -r {math.ceil(most_at_once / within_s)} or more",
        )
