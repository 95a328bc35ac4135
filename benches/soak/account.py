"""Whether lanes and directory agree on the number of operations, exactly.

Both count independently: lanes count answers by step, the directory counts requests by kind. The
counts are equal exactly if no recorder, drain or run file has lost an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benches.soak.mix import STEPS

KINDS = {
    "bind": "binds",
    "search": "searches",
    "add": "adds",
    "modify": "modifies",
    "delete": "deletes",
    "refresh": "extended",
}
"""The directory's counter for each kind of step."""

STAYED = "added - deleted - expired, and more entries"


@dataclass(frozen=True)
class Counted:
    """The results of a program's step over a whole run."""

    program: str
    step: str
    count: int
    failures: int

    @property
    def kind(self) -> str:
        return STEPS[self.program][self.step]


@dataclass(frozen=True)
class Line:
    """Two figures that must be equal."""

    what: str
    lanes: int
    directory: int

    @property
    def holds(self) -> bool:
        return self.lanes == self.directory


def account(
    counted: Iterable[Counted], before: Mapping[str, int], after: Mapping[str, int]
) -> list[Line]:
    """Compare the lanes' steps with the growth of the directory's counters."""
    asked = dict.fromkeys(KINDS.values(), 0)
    entered = left = 0
    for each in counted:
        counter = KINDS.get(each.kind)
        if counter is not None:
            asked[counter] += each.count
        succeeded = each.count - each.failures
        entered += succeeded if each.kind == "add" else 0
        left += succeeded if each.kind == "delete" else 0
    lines = [Line(name, count, after[name] - before[name]) for name, count in asked.items()]
    stayed = entered - left - (after["expired"] - before["expired"])
    return [*lines, Line(STAYED, stayed, after["entries"] - before["entries"])]
