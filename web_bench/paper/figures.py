"""Figures of a measured window that only web servers have.

A request belongs to a class of the workload: files, a path or a program, or an operation of several
steps. Times are those of docs/method.md ("Phases of a request"), but on a schedule a request begins
at its due time. Times are means in seconds; figures that were not measured are None.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from sitebench.counts.metrics import BYTES_IN, LATENCY, SERVICE, WRONG
from sitebench.counts.source import SEQUENCE, StepTotals
from sitebench.counts.tally import Tally
from sitebench.http.mix import shares
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Of
from sitebench.verdict.warning import PointWarning, WarningKind
from web_bench.paper.arithmetic import MBIT, load_factor, off_mean
from web_bench.workload import RequestClass, Workload

_HEAD_BYTES = 1_024
"""Largest number of bytes assumed for the head of an answer."""

_OFF_MEAN = 0.05
"""Largest relative difference that chance explains between the bytes per request and the mean of
the files, which are drawn at random and differ in size."""

_WRONG = ("status:", "wrong-")
_MOST_WRONG = 0.001
"""Largest share of wrong answers in a valid point."""

_LEAST_REQUESTS = 1_000
"""Least number of requests for a warning of other sizes; few requests differ by chance."""


def figures(measured: Tally, workloads: Sequence[Workload]) -> dict[str, Any]:
    seconds = measured.seconds or 1.0
    requests = measured.merge_steps(row for workload in workloads for row in workload.requests)
    connects = measured.merge_steps(row for workload in workloads for row in workload.connects)
    bytes_in = sum(
        step.counters[BYTES_IN] for step in measured.steps.values() if step.step != SEQUENCE
    )
    return {
        "requests_per_s": (requests.count - requests.failed) / seconds,
        "connects_per_s": (connects.count - connects.failed) / seconds,
        "mbit_per_s": 8 * bytes_in / seconds / MBIT,
        "bytes_per_request": requests.counters[BYTES_IN] / requests.count
        if requests.count
        else None,
        "mean_bytes": _mean_bytes(measured, workloads),
        "split_s": _split_s(measured, workloads),
        "clients": fairness(measured.lane_counts),
        "pauses": measured.waits,
        "wrong": wrong(requests),
        "mix": {workload.name: mix(measured, workload) for workload in workloads},
    }


def wrong(requests: StepTotals) -> dict[str, int]:
    """Return the number of answers with a wrong status or content, by kind."""
    wrong_answers = {kind: n for kind, n in requests.failures.items() if kind.startswith(_WRONG)}
    return dict(sorted(wrong_answers.items()))


def _split_s(measured: Tally, workloads: Sequence[Workload]) -> dict[str, float] | None:
    """Return the parts of the mean time of answered requests that were due in the window.

    A request on a kept connection has no connect, and few requests have a TLS handshake: these
    parts are means over all requests. Return None if an operation has several requests: the sum of
    their means is not the operation's time.
    """
    if any(len(operation.steps) > 1 for workload in workloads for operation in workload.operations):
        return None
    connecting, handshakes, first_bytes, requests = (
        measured.merge_steps(((workload.name, step) for workload in workloads), due=True)
        for step in ("connecting", "handshake", "first byte", "request")
    )
    answered = requests.clocks[SERVICE].count + requests.clocks[WRONG].count
    if not answered:
        return None
    phases = (step.clocks[SERVICE].sum for step in (connecting, handshakes, first_bytes))
    connect_ns, tls_ns, first_ns = phases
    whole_ns = requests.clocks[SERVICE].sum + requests.clocks[WRONG].sum
    parts_ns = {
        "connect": connect_ns - tls_ns,
        "tls": tls_ns,
        "first_byte": first_ns,
        "rest": whole_ns - connect_ns - first_ns,
    }
    return {name: max(0.0, ns) / answered / 1e9 for name, ns in parts_ns.items()}


def _mean_bytes(measured: Tally, workloads: Sequence[Workload]) -> float | None:
    requests, total = 0, 0.0
    for workload in workloads:
        for class_ in workload.classes:
            mean, count = workload.mean_bytes_of(class_), _totals(measured, class_).count
            if mean is None:
                return None
            requests, total = requests + count, total + count * mean
    return total / requests if requests else None


def fairness(counts: Sequence[int]) -> dict[str, float] | None:
    """Return the distribution of answered requests over clients; None for a single client."""
    if len(counts) < 2 or not any(counts):
        return None
    mean = statistics.fmean(counts)
    return {
        "least": min(counts),
        "mean": mean,
        "most": max(counts),
        "variation": statistics.pstdev(counts) / mean,
    }


def mix(measured: Tally, workload: Workload) -> dict[str, dict[str, float]]:
    totals = {class_.name: _totals(measured, class_) for class_ in workload.classes}
    rows = shares(
        {name: step.count for name, step in totals.items()},
        {class_.name: class_.weight for class_ in workload.classes},
    )
    return {name: row | {"failed": totals[name].failed} for name, row in rows.items()}


def figure_of(name: str) -> Of:
    """Return a getter of a figure; dots separate nested names."""

    def get(result: PointResult) -> float | None:
        figure: Any = result.figures
        for part in name.split("."):
            figure = None if figure is None else figure.get(part)
        return None if figure is None else float(figure)

    return get


def latency_s(result: PointResult) -> float | None:
    """Return the mean latency of requests due in the window; unanswered requests are included."""
    mean_us = result.clocks[LATENCY].mean
    return None if mean_us is None else mean_us / 1e6


def in_progress(result: PointResult) -> float | None:
    took_s, seconds = latency_s(result), result.seconds
    if took_s is None or not seconds:
        return None
    return load_factor(result.clocks[LATENCY].n / seconds, took_s)


def warnings(figures: Mapping[str, Any]) -> list[PointWarning]:
    requests = sum(figures["count"] for w in figures["mix"].values() for figures in w.values())
    return [*_not_there(figures, requests), *_other_sizes(figures, requests)]


def _not_there(figures: Mapping[str, Any], requests: int) -> list[PointWarning]:
    """Return a warning that invalidates the point if many answers were wrong."""
    kinds = figures["wrong"]
    if sum(kinds.values()) <= _MOST_WRONG * requests:
        return []
    classes = (
        name for w in figures["mix"].values() for name, counts in w.items() if counts["failed"]
    )
    text = ", ".join(f"{kind} x {n:,}" for kind, n in kinds.items())
    return [
        PointWarning(
            WarningKind.OTHER_FILES,
            f"of {requests:,} answers {sum(kinds.values()):,} were not what was asked for "
            f"({text}), to requests of {', '.join(classes)}",
            "compare the server's files with the set: sitebench web verify",
            spoils=True,
        )
    ]


def _other_sizes(figures: Mapping[str, Any], requests: int) -> list[PointWarning]:
    """Return a warning if the bytes per request differ from the mean of the workload's files."""
    received, mean = figures["bytes_per_request"], figures["mean_bytes"]
    if received is None or mean is None or requests < _LEAST_REQUESTS:
        return []
    if (1 - _OFF_MEAN) * mean <= received <= (1 + _OFF_MEAN) * mean + _HEAD_BYTES:
        return []
    return [
        PointWarning(
            WarningKind.OTHER_FILES,
            f"a request brought {received:,.0f} bytes, and the workload's mean is {mean:,.0f} "
            f"({off_mean(received, mean):+.0%})",
            "compare the server's files with the set: sitebench web verify",
        )
    ]


def _totals(measured: Tally, class_: RequestClass) -> StepTotals:
    return measured.steps.get(class_.row) or StepTotals(*class_.row)
