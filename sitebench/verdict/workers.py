"""The part of the workers in the verdict on a distributed test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor.use import ProcessUse, Use
from sitebench.system.machine import this_machine
from sitebench.units import format_ns, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.generator import Generator, generator
from sitebench.verdict.verdict import Bound, Verdict, with_interval
from sitebench.verdict.warning import PointWarning, WarningKind

_SKEW_S = 0.5
"""The interval of timelines: a larger clock offset is visible in them."""


def use_of_all(use: Use, workers: Sequence[WorkerSeen]) -> Use:
    """Return the use of the whole test: the master's samples and the reports of its workers.

    The load generator is the sum of all workers. Its machine is the master's if a worker runs
    there; otherwise the machine of the worker with the busiest thread.
    """
    uses = [(max(w.cpu_s, default=0.0), w.use) for w in workers if w.use is not None]
    if not uses:
        return use
    together = _sum_of_processes([reported.generator for _, reported in uses])
    if this_machine() in {worker.machine for worker in workers}:
        return replace(use, generator=together)
    _, busiest = max(uses, key=itemgetter(0))
    return replace(
        use,
        generator=together,
        machine=busiest.machine,
        interface=busiest.interface,
        target_machine=use.target_machine or (use.machine if use.target_is_local else None),
        target_is_local=False,
    )


def _sum_of_processes(processes: Sequence[ProcessUse]) -> ProcessUse:
    return ProcessUse(
        cpu_s=sum(process.cpu_s for process in processes),
        rss=_sum(process.rss for process in processes),
        threads=_sum(process.threads for process in processes),
        waited_s=_sum(process.waited_s for process in processes),
        throttled_s=max((process.throttled_s or 0.0 for process in processes), default=None),
    )


def _sum(values: Iterable[Any]) -> Any:
    known_values = [value for value in values if value is not None]
    return sum(known_values) if known_values else None


def apply_workers(
    verdict: Verdict, window: Evidence, workers: Sequence[WorkerSeen], expected: int
) -> Verdict:
    """Combine a verdict with the workers' own verdicts; name the workers that change it."""
    verdict = replace(verdict, warnings=(*verdict.warnings, *_warnings(workers, expected)))
    if missing := [worker for worker in workers if worker.ended or worker.missing]:
        evidence = "; ".join(_ending_text(worker) for worker in missing)
        invalid = replace(verdict, bound=Bound.GENERATOR, valid=False, at_most_per_s=None)
        return replace(invalid, evidence=evidence)
    full = [(worker, tester) for worker in workers if (tester := _judge_one_worker(worker)).used_up]
    if not full or verdict.bound in (Bound.FAILED, Bound.LEAK, Bound.UNSETTLED):
        return verdict
    evidence = "; ".join(f"{worker.name}: {tester.message}" for worker, tester in full)
    limited = replace(verdict, bound=Bound.GENERATOR, valid=False, evidence=evidence)
    return with_interval(window, limited)


def _judge_one_worker(worker: WorkerSeen) -> Generator:
    if worker.use is None or not worker.seconds:
        return Generator(False, "it reported no figures")
    return generator(
        Evidence(
            seconds=worker.seconds,
            operations=worker.operations,
            failures_by_kind={},
            generator_cpu_s=worker.cpu_s,
            use=replace(worker.use, target_is_local=False),
        )
    )


def _ending_text(worker: WorkerSeen) -> str:
    if worker.missing:
        loss = f"{plural(worker.missing, 'operation')} that it did were never reported"
    else:
        verb = "was lost" if worker.ended == "lost" else "left"
        loss = f"it {verb} after {worker.seconds:.1f} s of the measured window"
    return f"{worker.name}: {loss}"


def _warnings(workers: Sequence[WorkerSeen], expected: int) -> Iterable[PointWarning]:
    for worker in workers:
        if worker.ended or worker.missing:
            yield PointWarning(
                WarningKind.WORKER_LOST,
                f"{_ending_text(worker)}; what it had sent is counted",
                "check that machine and the network to it, then measure the point again",
            )
    if len(workers) < expected:
        yield PointWarning(
            WarningKind.WORKERS_MISSING,
            f"{len(workers)} of {expected} workers made the load: one was lost earlier",
            "restart it and measure the point again, to compare it with the earlier ones",
        )
    for worker in workers:
        trip, skew = worker.round_trip_s, worker.skew_s
        if trip is not None and trip / 2 > _SKEW_S:
            yield PointWarning(
                WarningKind.CLOCK_SKEW,
                f"{worker.name} has a round trip of {format_ns(round(trip * 1e9))}: its "
                "operations are placed in a timeline with half of that as the error",
                "use a worker closer to the master; totals and latencies are not affected",
            )
        elif skew is not None and abs(skew) > _SKEW_S:
            yield PointWarning(
                WarningKind.CLOCK_SKEW,
                f"the clock of {worker.name} is {skew:+.1f} s from the master's: Locust's own "
                "charts place its requests by it, the run file does not",
                "synchronise the clocks (chrony or another NTP client)",
            )
