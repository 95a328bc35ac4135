"""Merges native counts into Locust's statistics, as Locust's master merges its workers.

tests/locust/test_locust_contract.py tests the assumptions about Locust. Entries are looked up each
time, as `clear_all()` replaces them. Rows of whole sequences of steps (`sequence`) and of phases of
requests are left out, because other rows count the same work. Locust's latencies are whole
milliseconds; the run file has nanoseconds.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import gevent  # type: ignore[import-untyped]
from locust.stats import CSV_STATS_INTERVAL_SEC, RequestStats, StatsEntry, StatsError

from sitebench.counts.metrics import BYTES_IN, SERVICE
from sitebench.counts.source import Drained, StepRecord, ended

_SECONDS_KEPT = 20
"""Locust's present rates are means of twelve seconds; older counts are dropped."""


def feed(stats: RequestStats, drained: Drained, offset_s: float) -> None:
    start, end = drained.t0_ns / 1e9 + offset_s, drained.t1_ns / 1e9 + offset_s
    for step in ended(drained):
        if step.overlaps:
            continue
        entry = StatsEntry.unserialize(entry_dict(step, start, end), stats)
        locust_entry = stats.entries[(entry.name, entry.method)]
        locust_entry.extend(entry)
        _forget(locust_entry, end - _SECONDS_KEPT)
        stats.total.extend(entry)
        _feed_errors(stats, step, start, end)
    # Without this entry, the last rate would stay on the screen if the target stops answering.
    heartbeat = StatsEntry(stats, "Aggregated", "")
    heartbeat.start_time, heartbeat.last_request_timestamp = start, end
    stats.total.extend(heartbeat)
    _forget(stats.total, end - _SECONDS_KEPT)


def _forget(entry: StatsEntry, before: float) -> None:
    """Drop the counts of old seconds: Locust keeps every second of a test."""
    for per_second in (entry.num_reqs_per_sec, entry.num_fail_per_sec):
        while per_second and (oldest := next(iter(per_second))) < before:
            del per_second[oldest]


def entry_dict(step: StepRecord, start: float, end: float) -> Any:
    """Return the document that `StatsEntry.serialize` would make if Locust had seen each request.

    Only answered requests have a duration; Locust counts the others as `num_none_requests`.
    """
    service = step.clocks[SERVICE]
    timed = service.count
    failed = sum(step.failures.values())
    return {
        "name": step.step,
        "method": step.program,
        "last_request_timestamp": end,
        "start_time": start,
        "num_requests": step.count,
        "num_none_requests": step.count - timed,
        "num_failures": failed,
        "total_response_time": service.sum / 1e6,
        "max_response_time": service.max / 1e6,
        # Locust shows no median below the minimum, and rounds durations below 0.5 ms to 0.
        "min_response_time": (service.min / 1e6 if service.min >= 5e5 else 0.0) if timed else None,
        "total_content_length": step.counters[BYTES_IN],
        "response_times": service.millis(),
        "num_reqs_per_sec": spread(step.count, start, end),
        "num_fail_per_sec": spread(failed, start, end),
    }


def spread(count: int, start: float, end: float) -> dict[int, int]:
    """Split a count over the wall-clock seconds of a window, without loss."""
    if count == 0:
        return {}
    length = end - start
    if length <= 0 or int(start) == int(end):
        return {int(end): count}
    split, assigned = {}, 0
    for second in range(int(start), int(end) + 1):
        reached = round(count * (min(second + 1, end) - start) / length)
        if reached > assigned:
            split[second] = reached - assigned
            assigned = reached
    return split


def _feed_errors(stats: RequestStats, step: StepRecord, start: float, end: float) -> None:
    """Count failures by kind, without names or DNs: Locust shows at most 500 different errors."""
    for kind, n in step.failures.items():
        key = StatsError.create_key(step.program, step.step, kind)
        error = stats.errors.get(key)
        if error is None:
            error = StatsError(step.program, step.step, kind)
            error.first_seen = start
            stats.errors[key] = error
        error.occurrences += n
        error.last_seen = end


def await_csv(options: Namespace | None) -> None:
    """Wait for one more write of Locust's CSV writer, which closes files without a last write."""
    if options is not None and options.csv_prefix:
        gevent.sleep(1.1 * CSV_STATS_INTERVAL_SEC)


def leave_json_to_master(options: Namespace | None) -> None:
    """Keep a forked worker from writing its empty statistics over its master's `--json-file`."""
    if options is not None:
        options.json_file = None
