"""Run files with invented repeats for comparisons, without measurements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.runs.manifest import COMPARED
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.verdict.verdict import Verdict
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_spec, a_use

WINDOW_NS = 2_000_000_000
MANIFEST: Mapping[str, Any] = {
    "cpu": {"model": "a processor", "cores": 2, "usable": 2},
    "kernel": "Linux 6.1 x86_64",
    "memory_bytes": 4_000_000_000,
    "versions": {"sitebench": "0.1.0"},
    "population": {"digest": "d1", "pools_digest": "p1"},
    "sizes": [1_000],
}
SPOILED = Verdict("unsettled", False, "it drifted")


def a_repeat(
    spec: PointSpec,
    rate: float,
    failing: float = 0.0,
    unanswered: float = 0.0,
    waited_ns: int = 10_000_000_000,
) -> tuple[Tally, PointResult]:
    """Return a window at a rate, with latencies that fit 64 lanes.

    A share `failing` of its operations fails, a share `unanswered` gets no answer.
    """
    count = round(rate * WINDOW_NS / 1e9)
    took, mean_ns = histogram(), spec.users / rate * 1e9
    for part in range(20):
        took.record(round(mean_ns * (0.6 + 0.04 * part)), count // 20)
    took.record(round(mean_ns), count - 20 * (count // 20))
    given_up = round(count * unanswered)
    failures = {"wrong-answer": round(count * failing), "timeout": given_up}
    name, ended = spec.operation, count + given_up
    step = Step(name, name, ended, failures, 104 * count, 1_283 * count, took)
    step.clocks["censored"].record(waited_ns, given_up)
    tally = Tally.starting(Drain(0, 10, lanes=spec.users))
    cpu = (round(0.4 * WINDOW_NS),)
    tally.add(Drain(10, 10 + WINDOW_NS, (step,), lanes=spec.users, cpu_ns=cpu))
    steps = [(spec.operation, spec.operation)]
    return tally, summarise(spec, tally, steps, a_use(), target_cores=1, native=True)


def write_run(
    path: Path,
    *points: tuple[PointSpec, Sequence[float]],
    manifest: Mapping[str, Any] = MANIFEST,
    spoiled: Sequence[int] = (),
    planned: Sequence[PointSpec] = (),
) -> Path:
    """Write a run file of points and the rates of their repeats.

    In the `spoiled` repeats the rate never settled.
    """
    with RunStore(path) as store:
        store.set_manifest(manifest)
        for spec, rates in points:
            for repeat, rate in enumerate(rates):
                here = replace(spec, repeat=repeat)
                store.begin(here)
                tally, result = a_repeat(here, rate)
                if repeat in spoiled:
                    result = replace(result, verdict=SPOILED)
                store.complete(store.point_id(here.key), {"measure": tally}, result)
                store.confirm(here)
        store.plan(planned)
    return path


def interleaved(
    path: Path,
    rates: Sequence[float],
    side: str,
    spec: PointSpec | None = None,
    *more: tuple[PointSpec, Sequence[float]],
    facts: Mapping[str, object] = MappingProxyType({}),
    **other: Any,
) -> Path:
    """Write one side of an interleaved comparison; `more` are further points."""
    compared = {"id": "one", "side": side, "value": f"value {side}", **facts}
    points = ((spec or a_spec(), rates), *more)
    return write_run(path, *points, manifest={**MANIFEST, COMPARED: compared}, **other)


def noisy(n: int, rate: float, seed: int, noise: float = 0.01) -> list[float]:
    """Return rates that scatter around one."""
    lot = random.Random(seed)
    return [rate * (1 + lot.gauss(0, noise)) for _ in range(n)]
