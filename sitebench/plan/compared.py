"""Our answers for 1997's inputs beside those that the workbook prints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sitebench.plan import paper
from sitebench.plan.model import solve, whole
from sitebench.plan.paper import Printed
from sitebench.units import format_size


@dataclass(frozen=True)
class Compared:
    """One machine of 1997: what its workbook prints, and what our law gives."""

    machine: str
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
            "size": paper.SIZE,
            "simultaneous": self.simultaneous,
            "community": self.community,
            "printed_simultaneous": self.printed.simultaneous,
            "printed_community": self.printed.community,
            "differs": self.differs,
        }


def compared(half: str) -> list[Compared]:
    """Return every answer that the workbook prints for this half, and ours."""
    tables, scenario = paper.of(half)
    found = []
    for each in paper.PS_PRINTED if half == "ps" else paper.ILS_PRINTED:
        table = tables[each.preset]
        values = solve(scenario, table.at(paper.SIZE))
        ours = whole(values["simultaneous"]), whole(values["served"])
        found.append(Compared(table.machine, each, *ours))
    return found


def verdict(half: str) -> list[str]:
    """Say whether they differ, and what can be said of why."""
    found = compared(half)
    if not any(each.differs for each in found):
        return ["They agree."]
    times = " and ".join(f"{each.simultaneous / each.printed.simultaneous:.0f}" for each in found)
    return [
        f"They differ: ours are {times} times as high. It is not the column: our law gives "
        f"{_range()} simultaneous users with the rates of other sizes.",
        f"No mix of the printed rates gives both printed answers: these are {_answers():.2f} times "
        f"apart, and the printed rates of the two machines {_rates():.2f} times at most.",
        f"An operation that is not printed, once per session at {_unprinted()}, would give them; "
        "docs/planner.md has the reasons to think so. No formula here was bent to meet them.",
    ]


def _range() -> str:
    said = []
    for table in paper.ILS.values():
        ours = [solve(paper.ILS_SCENARIO, table.at(size))["simultaneous"] for size in table.sizes]
        said.append(f"{whole(min(ours)):,} to {whole(max(ours)):,}")
    return " and ".join(said)


def _answers() -> float:
    """Return by how much the printed answers of two machines differ."""
    ((less, more),) = pairwise(paper.ILS_PRINTED)
    return more.community / less.community


def _rates() -> float:
    """Return by how much any printed rate of two machines differs, at most."""
    less, more = paper.ILS.values()
    return max(
        high / low
        for name in less.rates
        for low, high in zip(less.rates[name], more.rates[name], strict=True)
        if low and high
    )


def _unprinted() -> str:
    return " and ".join(
        f"{rate:g}/s (with the rates at {format_size(size)})"
        for rate, size in paper.UNPRINTED.values()
    )
