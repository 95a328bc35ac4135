"""The cost of limits that are off by default: lookups with and without these limits.

Without a limit means a limit so high that no request reaches it. Most checks are then made on both
sides, and this bench does not measure their cost.

The bench compares lookups per second of the directory's CPU: on a shared machine, lookups per
second of time differ by a tenth from moment to moment, and the CPU time of a lookup by a percent.
Disturbances only add CPU time, so each directory is measured in many short turns, and the lowest
CPU time counts.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from benches.bench import LANES
from benches.ils import KEPT
from benches.ils_engine import DirectoryBench
from benches.ratios import Trial, Values, rows_of
from ils_bench.calibrate import engine_alone
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.people import spec_of

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

_LIMITS = (
    *("message_bytes_before_bind", "message_bytes_after_bind", "filter_terms", "filter_bytes"),
    *("filter_work", "requested_attributes", "attributes_per_entry", "values_per_entry"),
    *("entry_bytes", "changes_per_modify", "rename_bytes", "password_bytes", "connections"),
    *("connections_per_address", "running_searches", "paged_searches", "stall_ms"),
)
LIFTED = dict.fromkeys(_LIMITS, MANY) | {"connection_bytes": 4 * MANY}
LIFTED |= dict.fromkeys(("search_entries", "search_s", "idle_ms"), 0)
"""All limits at their maximum except the length of a name and the depth of a filter."""

ROWS = rows_of("ils_limits")


class LimitsBench(DirectoryBench):
    def trials(self) -> list[Trial]:
        return [Trial("limits", self._in_turns)]

    def _in_turns(self) -> Values:
        cheapest: dict[str, float] = {}
        for turn in range(TURNS):
            # The sides swap their order each turn, so a machine that slows down favours neither.
            sides = [("checked", CHECKED), ("lifted", LIFTED)][:: 1 if turn % 2 else -1]
            for name, limits in sides:
                cpu_us = self._measured(name, limits)
                cheapest[name] = min(cpu_us, cheapest.get(name, cpu_us))
        return {name: 1e6 / cpu_us for name, cpu_us in cheapest.items()}

    def _measured(self, name: str, limits: dict[str, Any]) -> float:
        options, seconds = self.options(ENTRIES), max(LEAST_S, self.seconds / TURNS)
        people = spec_of(options, ENTRIES)
        target = self.opened(name, lambda: closing(open_embedded(options, people, limits=limits)))
        return engine_alone(options, target, KEPT, LANES, seconds)["target_cpu_us"]
