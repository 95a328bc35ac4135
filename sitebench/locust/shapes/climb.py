"""The way up to the knee: which load comes next, and which is held at the end.

Each load has so many times the users of the one before. The climb ends

- when the knee is behind it: two loads running gave less throughput for their response time than
  an earlier one (`curve.knee`; two, because one may have met a busy moment), or
- when a load breaks the objective, or nothing succeeds any more, or
- at the most users there may be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from sitebench.measure.objective import Objective, State
from sitebench.measure.peak.curve import Spot, knee, spots
from sitebench.runs.point import PointResult
from sitebench.units import format_rate
from sitebench.verdict.rules.wording import several

BEYOND = 2
"""How many loads must lie beyond the knee."""


@dataclass
class Climb:
    """Goes up load by load; `users` is the present one, `held` whether it stays that."""

    users: int
    factor: float
    most: int
    objective: Objective | None = None
    held: bool = False
    said: str = ""
    """What the last load gave, and what follows."""
    _results: list[PointResult] = field(default_factory=list)

    def learn(self, result: PointResult) -> None:
        """Take what the present load gave; go on to the next, or hold."""
        broke = self._broken(result)
        if broke is not None:
            self._hold(self._before, broke)
            return
        self._results.append(replace(result, spec=replace(result.spec, users=self.users)))
        found = spots(self._results, lambda spec: spec.users)
        gave = f"{several(self.users, 'user')}: {format_rate(result.ops_per_s)}/s"
        bend = knee(found)
        if bend is not None and _beyond(found, bend) >= BEYOND:
            self._hold(int(bend.load), f"{gave}; the knee is behind")
        elif self.users >= self.most:
            self._hold(self.users, f"{gave}; no knee up to there")
        else:
            self.said = gave
            self.users = min(self.most, math.ceil(self.users * self.factor))

    def _broken(self, result: PointResult) -> str | None:
        """Return why this load is too much."""
        if not result.operations:
            return f"{several(self.users, 'user')}: nothing succeeded"
        if self.objective is None:
            return None
        judged = self.objective.judge(result)
        if judged.state is not State.BROKEN:
            return None
        return f"{several(self.users, 'user')}: {judged.said}"

    @property
    def _before(self) -> int:
        """The load before this one; of the first, itself."""
        return self._results[-1].spec.users if self._results else self.users

    def _hold(self, users: int, said: str) -> None:
        self.users, self.held = users, True
        self.said = f"{said}; held from now on: {several(users, 'user')}"


def _beyond(found: list[Spot], bend: Spot) -> int:
    return sum(spot.valid and spot.load > bend.load for spot in found)
