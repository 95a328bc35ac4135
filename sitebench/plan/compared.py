"""Our answers for 1997's inputs beside those that the workbook prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitebench.plan.model import solve, whole
from sitebench.plan.suite import PlanSuite, Printed


@dataclass(frozen=True)
class Compared:
    """One machine of 1997: what its workbook prints, and what our law gives."""

    machine: str
    size: int
    printed: Printed
    simultaneous: int
    community: int

    @property
    def differs(self) -> bool:
        """Whether the printed answers are others."""
        ours = self.simultaneous, self.community
        return ours != (self.printed.simultaneous, self.printed.community)

    def to_json(self) -> dict[str, Any]:
        """Return both answers."""
        return {
            "machine": self.machine,
            "size": self.size,
            "simultaneous": self.simultaneous,
            "community": self.community,
            "printed_simultaneous": self.printed.simultaneous,
            "printed_community": self.printed.community,
            "differs": self.differs,
        }


def compared(suite: PlanSuite) -> list[Compared]:
    """Return every answer that the paper's workbook prints for this suite, and ours."""
    found = []
    for each in suite.printed:
        table = suite.presets[each.preset]
        values = solve(suite.scenario, table.at(suite.size))
        ours = whole(values["simultaneous"]), whole(values["served"])
        found.append(Compared(table.machine, suite.size, each, *ours))
    return found


def verdict(suite: PlanSuite) -> list[str]:
    """Say whether they differ, and what can be said of why."""
    found = compared(suite)
    if not any(each.differs for each in found):
        return ["They agree."]
    times = " and ".join(f"{each.simultaneous / each.printed.simultaneous:.0f}" for each in found)
    first, *others = suite.explain()
    return [f"They differ: ours are {times} times as high. {first}", *others]
