"""From the counts of a measured window to a point's result: percentiles, checks and verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sitebench.counts.durations import Durations
from sitebench.counts.littles_law import littles_law
from sitebench.counts.source import StepTotals
from sitebench.counts.steady import settle
from sitebench.counts.tally import Tally
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor import Use
from sitebench.runs.point import PointResult, PointSpec, StepResult
from sitebench.system.network import local_ports
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.verdict import judge
from sitebench.verdict.warning import PointWarning
from sitebench.verdict.workers import judged, use_of_all


def summarise(
    spec: PointSpec,
    tally: Tally,
    counts: Iterable[tuple[str, str]],
    use: Use,
    *,
    target_cores: int | None,
    native: bool,
    figures: Mapping[str, Any] | None = None,
    warnings: Sequence[PointWarning] = (),
    workers: Sequence[WorkerSeen] = (),
) -> PointResult:
    """Turn a measured window into a result, verdict included; `warnings` are the suite's own.

    `counts` are the steps that stand for an operation: one (program, step) per program.
    """
    counts = tuple(counts)
    use = use_of_all(use, workers)
    counted = tally.counted(counts)
    steps = [totals for totals in tally.steps.values() if not totals.overlaps]
    latency, service = Durations.of(counted.latency), Durations.of(counted.service)
    lag, censored = Durations.of(counted.lag), Durations.of(counted.censored)
    settled = settle(tally.operations(counts))
    law = littles_law(tally.lane_s, tally.clock_s, tally.seconds)
    evidence = Evidence(
        seconds=tally.seconds,
        operations=counted.count - counted.failed,
        failures=dict(sum((totals.failures for totals in steps), Counter[str]())),
        # The portable client is the whole process; the engine is its threads alone.
        generator_cpu_s=tally.thread_cpu_s if native or workers else (use.generator.cpu_s,),
        use=use,
        target_cores=target_cores,
        rate=spec.rate,
        users=spec.users,
        thinks=spec.rate is None and tally.waits,
        bytes_in=sum(totals.bytes_in for totals in steps),
        bytes_out=sum(totals.bytes_out for totals in steps),
        latency=latency,
        service=service,
        lag=lag,
        censored=censored,
        settled=settled,
        little=law,
        longest_drain_s=tally.longest_drain_s,
        local_ports=local_ports(),
    )
    expected_workers = int(spec.settings.get("workers", 0))
    verdict = judged(judge(evidence, warnings), evidence, workers, expected_workers)
    processing_ns = sum(totals.processing_ns for totals in steps)
    return PointResult(
        spec=spec,
        seconds=evidence.seconds,
        operations=evidence.operations,
        failures_by_kind=evidence.failures,
        bytes_out=evidence.bytes_out,
        bytes_in=evidence.bytes_in,
        steps=tuple(_step(t, tally.seconds, key in counts) for key, t in tally.steps.items()),
        figures=figures or {},
        latency=latency,
        service=service,
        lag=lag,
        censored=censored,
        processing_us=processing_ns / counted.count / 1e3 if counted.count else None,
        engine_cpu_s=evidence.generator_cpu_s,
        use=use,
        workers=tuple(workers),
        settled=settled,
        little=law,
        verdict=verdict,
    )


def _step(totals: StepTotals, seconds: float, counted: bool) -> StepResult:
    return StepResult(
        program=totals.program,
        step=totals.step,
        count=totals.count,
        failures=totals.failed,
        per_s=(totals.count - totals.failed) / seconds if seconds else 0.0,
        service=Durations.of(totals.service),
        processing_us=totals.processing_ns / totals.count / 1e3 if totals.count else None,
        censored=Durations.of(totals.censored),
        counted=counted,
        overlaps=totals.overlaps,
    )
