"""The cost of limits that are off by default: lookups with and without these limits.

Without a limit means a limit so high that no request reaches it. Most checks are then made on both
sides, and this bench does not measure their cost.

The bench compares lookups per second of the directory's CPU: on a shared machine, lookups per
second of time differ by a tenth from moment to moment, and the CPU time of a lookup by a percent.
Disturbances only add CPU time, so each directory is measured in many short turns, and the lowest
CPU time counts.
"""

from __future__ import annotations

from typing import Any

from benches.bench import LANES, Bench
from benches.ils import KEPT
from benches.ratios import Trial, Values, rows_of
from ils_bench.calibrate import WARMUP_S, engine_alone
from ils_bench.options import IlsOptions
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory

ENTRIES = 10_000
TURNS, LEAST_S = 16, 0.25
NEVER_MS = 600_000
MANY = 1_000_000_000

CHECKED = {
    "connections_per_address": ENTRIES,
    "search_entries": ENTRIES,
    "search_s": NEVER_MS // 1000,
    "idle_ms": NEVER_MS,
}
"""Limits that are off by default, switched on: addresses, entries and seconds of a search."""

LIFTED = {
    "message_bytes_before_bind": MANY,
    "message_bytes_after_bind": MANY,
    "filter_terms": MANY,
    "filter_bytes": MANY,
    "filter_work": MANY,
    "requested_attributes": MANY,
    "attributes_per_entry": MANY,
    "values_per_entry": MANY,
    "entry_bytes": MANY,
    "connection_bytes": 4 * MANY,
    "changes_per_modify": MANY,
    "rename_bytes": MANY,
    "password_bytes": MANY,
    "connections": MANY,
    "connections_per_address": MANY,
    "running_searches": MANY,
    "paged_searches": MANY,
    "search_entries": 0,
    "search_s": 0,
    "stall_ms": MANY,
    "idle_ms": 0,
}
"""All limits at their maximum except the length of a name and the depth of a filter."""

ROWS = rows_of("ils_limits")


class LimitsBench(Bench):
    """Two directories that take turns."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._open: dict[str, OpenDirectory] = {}

    def trials(self) -> list[Trial]:
        return [Trial("limits", self._in_turns)]

    def _in_turns(self) -> Values:
        cheapest: dict[str, float] = {}
        for turn in range(TURNS):
            # The sides swap their order each turn, so a machine that slows down favours neither.
            sides = [("checked", CHECKED), ("lifted", LIFTED)][:: 1 if turn % 2 else -1]
            for name, limits in sides:
                found = self._ask(self._directory(name, limits))
                cheapest[name] = min(found, cheapest.get(name, found))
        return {name: 1e6 / cpu_us for name, cpu_us in cheapest.items()}

    def _ask(self, target: OpenDirectory) -> float:
        seconds = max(LEAST_S, self.seconds / TURNS)
        return engine_alone(self._options(), target, KEPT, LANES, seconds)["target_cpu_us"]

    def _directory(self, name: str, limits: dict[str, Any]) -> OpenDirectory:
        if name not in self._open:
            options = self._options()
            target = open_embedded(options, spec_of(options, ENTRIES), limits=limits)
            self.stack.callback(target.close)
            self._open[name] = target
        return self._open[name]

    def _options(self) -> IlsOptions:
        return IlsOptions(entries=ENTRIES, threads=1, users=LANES, warmup=WARMUP_S)
