"""From the counts of a measured window to a point's result: percentiles, checks and verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from sitebench.counts import metrics
from sitebench.counts.durations import summarise_clocks
from sitebench.counts.littles_law import littles_law
from sitebench.counts.source import START, StepTotals
from sitebench.counts.spans import Span
from sitebench.counts.steady import Settled, Steadiness
from sitebench.counts.tally import Tally
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.errors import printable
from sitebench.monitor.use import Use
from sitebench.runs.point import PointResult, PointSpec, StepResult, failing
from sitebench.scenario.script import Pool
from sitebench.system.network import local_ports
from sitebench.units import format_duration, format_ns
from sitebench.verdict.evidence import Evidence, OtherLoad, PoolUse
from sitebench.verdict.verdict import judge
from sitebench.verdict.warning import PointWarning
from sitebench.verdict.window import Window
from sitebench.verdict.workers import apply_workers, use_of_all

_NOTICED = 0.01
"""Share of a window in which no operation ended, above which the window's rate is too low."""


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
    spans: Sequence[Span] = (),
    rate_at_half: float | None = None,
    other_loads: Sequence[OtherLoad] = (),
    pools: Sequence[Pool] = (),
) -> PointResult:
    """Turn a measured window into a result with its verdict.

    `counts` are the steps that count as an operation: one (program, step) per program. `warnings`
    come from the suite. Each worker has separate `pools`.
    """
    counts = tuple(counts)
    use = use_of_all(use, workers)
    counted, due = tally.merge_steps(counts), tally.merge_steps(counts, due=True)
    steps = [totals for totals in tally.steps.values() if not totals.overlaps]
    rows = failing(spec, tally.due.values(), counts)
    failures = (totals.failures for totals in rows)
    settled = (
        Settled(Steadiness.STAGED, "its load changed by stages")
        if spec.stages is not None
        else tally.settle(counts, is_open=spec.rate is not None)
    )
    own_totals = (totals for key, totals in tally.due.items() if key in counts)
    pauses_s = max(map(_pauses_s, own_totals), default=0)
    lacks_warmup = spec.stages is None and pauses_s > spec.warmup_s + _NOTICED * tally.seconds
    if lacks_warmup:
        reason = (
            f"operations think for {format_ns(pauses_s * 1e9)} within, and the warm-up was "
            f"{format_duration(spec.warmup_s)}: few of those that began before the window ended "
            "within it, so its rate is too low"
        )
        settled = Settled(Steadiness.TOO_SHORT, reason)
    totals_of = {counter: sum(t.counters[counter] for t in steps) for counter in metrics.COUNTERS}
    window = Window(
        seconds=tally.seconds,
        operations=counted.count - counted.failed,
        failures_by_kind=_printable(sum(failures, Counter[str]())),
        examples={
            printable(kind): printable(f"{_name(totals)}: {text}")
            for totals in reversed(tally.due.values())
            if not totals.overlaps
            for kind, text in totals.examples.items()
        },
        clocks=summarise_clocks(due.clocks),
        counters={
            c: c.figure(due.counters[c], due.count) if c.whole else c.figure(total, counted.count)
            for c, total in totals_of.items()
        },
        queue_start=tally.queue_start,
        queue_end=tally.queue_end,
        busy_lanes=tally.target_s / tally.seconds if tally.seconds else 0.0,
        # The portable client uses CPU in the whole process, the engine only in its own threads.
        generator_cpu_s=tally.thread_cpu_s if native or workers else (use.generator.cpu_s,),
        use=use,
        target_cores=target_cores,
        settled=settled,
        little=littles_law(tally.lane_s, tally.clock_s, tally.seconds),
        spans=tuple(spans),
    )
    evidence = Evidence(
        **asdict(window),
        rate=spec.rate,
        arrivals=spec.arrivals,
        users=spec.users,
        rate_at_half=rate_at_half,
        other_loads=tuple(other_loads),
        pools=tuple(_in_use(pool, tally, len(workers) or 1) for pool in pools),
        thinks=spec.rate is None and tally.waits,
        pauses_s=pauses_s if lacks_warmup else None,
        longest_drain_s=tally.longest_drain_s,
        local_ports=local_ports(),
    )
    expected_workers = int(spec.settings.get("workers", 0))
    return PointResult(
        **asdict(window),
        spec=spec,
        verdict=apply_workers(judge(evidence, warnings), evidence, workers, expected_workers),
        steps=tuple(_step(tally, key, counted=key in counts) for key in tally.due),
        figures=figures or {},
        workers=tuple(workers),
    )


def _name(totals: StepTotals) -> str:
    return f"{START}: {totals.step}" if totals.program == START else totals.step


def _in_use(pool: Pool, tally: Tally, workers: int) -> PoolUse:
    """Return how many places of a pool had a request in flight: rate times service time."""
    rows = (tally.due[row].clocks for row in pool.rows if row in tally.due)
    served = (summarise_clocks(clocks) for clocks in rows)
    times = (took[clock] for took in served for clock in (metrics.SERVICE, metrics.WRONG))
    busy_s = sum(durations.n * (durations.mean or 0.0) for durations in times) / 1e6
    in_use = busy_s / tally.seconds if tally.seconds else 0.0
    return PoolUse(pool.name, pool.places * workers, in_use)


def _pauses_s(totals: StepTotals) -> float:
    """Return the mean think time within an operation."""
    return totals.counters[metrics.PAUSED] / totals.count / 1e9 if totals.count else 0.0


def _printable(failures: Counter[str]) -> dict[str, int]:
    """Return failures by printable kind, because a server can have named the kinds."""
    return dict(sum((Counter({printable(k, 200): n}) for k, n in failures.items()), Counter[str]()))


def _step(tally: Tally, key: tuple[str, str], *, counted: bool) -> StepResult:
    totals = tally.due[key]
    ended = tally.steps.get(key) or StepTotals(*key)
    return StepResult(
        program=totals.program,
        step=totals.step,
        count=totals.count,
        failures=totals.failed,
        per_s=(ended.count - ended.failed) / tally.seconds if tally.seconds else 0.0,
        clocks=summarise_clocks(totals.clocks),
        counters={c: c.figure(totals.counters[c], totals.count) for c in metrics.COUNTERS},
        counted=counted,
        overlaps=totals.overlaps,
    )
