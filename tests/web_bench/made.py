"""Invented results of web workloads, as a sweep over clients yields them."""

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from msgspec.structs import replace

from sitebench.counts.metrics import CENSORED
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.runs.point import PointResult, PointSpec
from sitebench.verdict.verdict import Bound, Verdict
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_use
from web_bench.paper.figures import figures
from web_bench.workload import Workload, find

SECONDS = 20.0
LOST_NS = 3_000_000_000
HEAD = 200
"""Bytes of an answer's head."""


def a_spec(operation: str = "webbench1-static", users: int = 12, **other: Any) -> PointSpec:
    made = PointSpec(
        *("web", operation, 0, "nginx", users, None, 0.5, SECONDS), settings={"keepalive": "false"}
    )
    return replace(made, **other)


def byte_counts(workload: Workload) -> list[float] | None:
    """Return weight times mean bytes of each class; None if a size is not known."""
    means = ((class_.weight, workload.mean_bytes_of(class_)) for class_ in workload.classes)
    counts = [weight * mean for weight, mean in means if mean is not None]
    return counts if len(counts) == len(workload.classes) else None


def mean_bytes(workload: Workload) -> float:
    counts = byte_counts(workload)
    assert counts is not None
    return sum(counts) / sum(class_.weight for class_ in workload.classes)


def request_shares(workload: Workload) -> list[float]:
    total = sum(class_.weight for class_ in workload.classes)
    return [class_.weight / total for class_ in workload.classes]


def byte_shares(workload: Workload) -> list[float]:
    counts = byte_counts(workload)
    assert counts is not None
    return [count / sum(counts) for count in counts]


def a_tally(
    workload: Workload, requests: int, latency_ns: int, tls_ns: int = 0, lost: int = 0
) -> Tally:
    """Return a window: half of each latency is connecting, a quarter the first byte.

    `lost` further requests were given up after three seconds.
    """

    def steps() -> Any:
        done, shares = 0, accumulate(request_shares(workload))
        for each, share in zip(workload.classes, shares, strict=True):
            n = round(requests * share) - done
            done += n
            size = round(workload.mean_bytes_of(each) or 0)
            yield step(each.name, n, latency_ns // 2, (size + HEAD) * n)
        yield step("connect", requests, latency_ns // 2)
        yield step("connecting", requests, latency_ns // 2)
        if tls_ns:
            yield step("handshake", requests, tls_ns)
        yield step("first byte", requests, latency_ns // 4)
        yield step("request", requests, latency_ns, lost=lost)
        yield step("sequence", requests, latency_ns, lost=lost)

    def step(name: str, count: int, took_ns: int, bytes_in: int = 0, lost: int = 0) -> StepTotals:
        took, never = histogram(), histogram()
        took.record(took_ns, count)
        never.record(LOST_NS, lost)
        sent, failures = 50 * count, {"timeout": lost} if lost else {}
        made = Step(workload.name, name, count + lost, failures, sent, bytes_in, took)
        made.clocks[CENSORED] = never
        return made

    tally = Tally.starting(Drain(0, 10))
    end = 10 + round(SECONDS * 1e9)
    tally.add(Drain(10, end, tuple(steps()), cpu_ns=(round(0.4e9 * SECONDS),)))
    return tally


def a_result(
    operation: str,
    users: int,
    requests_per_s: float,
    latency_ms: float | None = None,
    *,
    counts: tuple[int, ...] = (),
    lost: int = 0,
    **other: Any,
) -> PointResult:
    """Return one point; by default its latency fits the number of clients and the rate."""
    workload = find(operation)
    requests = round(requests_per_s * SECONDS)
    latency_ns = round((latency_ms or 1e3 * users / requests_per_s) * 1e6)
    tally = a_tally(workload, requests, latency_ns, lost=lost)
    tally.lane_counts = list(counts) or [requests // users] * users
    return summarise(
        a_spec(operation, users, **other),
        tally,
        [(workload.name, "sequence")],
        a_use(),
        target_cores=1,
        native=True,
        figures=figures(tally, [workload]),
    )


def a_sweep(operation: str, rates: Mapping[int, float], **other: Any) -> list[PointResult]:
    """Return a point per number of clients with these requests/s."""
    return [a_result(operation, users, rate, **other) for users, rate in rates.items()]


def used_up(results: Iterable[PointResult]) -> list[PointResult]:
    """Mark results as limited by the target's CPU."""
    verdict = Verdict(Bound.TARGET_CPU, True, "the target used 100% of its 1 core")
    return [replace(each, verdict=verdict) for each in results]
