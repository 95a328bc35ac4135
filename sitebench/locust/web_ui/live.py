"""The present figures of a test, as series for charts and rows for tables; no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sitebench._engine import Histogram
from sitebench.counts.durations import Durations, heading, percentile_ns, with_censored
from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, CENSORED, LATENCY
from sitebench.counts.source import SEQUENCE, Drained, ended
from sitebench.counts.tally import Tally
from sitebench.monitor.between import share
from sitebench.monitor.figures import SHORTEST_NS, Figure, describe
from sitebench.monitor.sample import MachineSample, Sample
from sitebench.runs.windows import Phase, Windows
from sitebench.units import format_bytes, format_ns

_KEPT = 3_600
"""The most drains in the charts: half an hour, with two drains a second."""

_RECENT_S = 5.0

_SHOWN: Mapping[str, Sequence[str]] = {
    "target": ("cpu_s", "resident_bytes", "threads", "descriptors", "waited_s", "written_bytes"),
    "generator": ("cpu_s", "resident_bytes", "threads", "descriptors", "waited_s", "round_trip_s"),
    "machine": (
        *("busy_s", "core_busy_s", "available_bytes", "runnable", "context_switches", "stolen_s"),
        *("iowait_s", "swapped_in_pages", "interface_in_bytes", "interface_out_bytes"),
        *("retransmits", "disk_written_bytes"),
    ),
    "target-machine": (
        *("busy_s", "available_bytes", "runnable", "interface_in_bytes", "interface_out_bytes"),
        *("retransmits", "listen_overflows"),
    ),
}


class Interval(msgspec.Struct, frozen=True):
    at_s: float
    phase: str
    lanes: int
    per_s: float
    failed_per_s: float
    bytes_in_per_s: float
    bytes_out_per_s: float
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class Usage(msgspec.Struct, frozen=True):
    """The resource use between two samples; None is unknown."""

    at_s: float
    target_cores: float | None
    generator_cores: float
    busy_cores: float
    target_bytes: float | None
    generator_bytes: float
    available_bytes: float


class Resource(msgspec.Struct, frozen=True):
    who: str
    what: str
    now: str


class LiveView:
    def __init__(self, counts: Iterable[tuple[str, str]]) -> None:
        self.windows: Windows | None = None
        self.lanes_measured: int | None = None
        self.moments: deque[Interval] = deque(maxlen=_KEPT)
        self.loads: deque[Usage] = deque(maxlen=_KEPT)
        self.resources: tuple[Resource, ...] = ()
        self._counts = frozenset(counts)
        self._latencies: deque[tuple[float, Histogram]] = deque()
        self._began_ns: int | None = None
        self._before: tuple[int, Sample] | None = None

    def _at_s(self, t_ns: int) -> float:
        if self._began_ns is None:
            self._began_ns = t_ns
        return round((t_ns - self._began_ns) / 1e9, 3)

    def add_drain(self, phase: Phase, drained: Drained) -> None:
        """Store a drain's figures; a drain at a phase's boundary may be too short for a rate."""
        if phase is Phase.MEASURE:
            self.lanes_measured = drained.lanes
        seconds = (drained.t1_ns - drained.t0_ns) / 1e9
        at_s = self._at_s(drained.t1_ns)
        if seconds <= 0.05:
            return
        latency, failed, moved, count = Histogram(), 0, [0, 0], 0
        for record in ended(drained):
            if not record.overlaps:
                moved[0] += record.counters[BYTES_IN]
                moved[1] += record.counters[BYTES_OUT]
                failed += sum(record.failures.values())
            if (record.program, record.step) in self._counts:
                count += record.count - sum(record.failures.values())
                latency.add(with_censored(record.clocks[LATENCY], record.clocks[CENSORED]))
        recent = self._recent(at_s, latency)
        self.moments.append(
            Interval(
                at_s,
                phase,
                drained.lanes,
                count / seconds,
                failed / seconds,
                moved[0] / seconds,
                moved[1] / seconds,
                _us(percentile_ns(recent, 50.0)),
                _us(percentile_ns(recent, 99.0)),
                _us(recent.max) if recent.count else None,
            )
        )

    def _recent(self, at_s: float, latency: Histogram) -> Histogram:
        """Return the latencies of the last seconds: one drain has too few for a p99."""
        self._latencies.append((at_s, latency))
        while self._latencies[0][0] < at_s - _RECENT_S:
            self._latencies.popleft()
        merged = Histogram()
        for _, latencies in self._latencies:
            merged.add(latencies)
        return merged

    def add_sample(self, t_ns: int, sample: Sample) -> None:
        at_s = self._at_s(t_ns)
        if self._before is not None:
            before_ns, before = self._before
            if t_ns - before_ns < SHORTEST_NS:
                return
            seconds = (t_ns - before_ns) / 1e9
            self.loads.append(_usage(at_s, before, sample, seconds))
            self.resources = tuple(_resources(before, sample, seconds))
        self._before = t_ns, sample

    @property
    def tally(self) -> Tally | None:
        """The totals of the measured window; before that window begins, of the present phase."""
        if self.windows is None:
            return None
        return self.windows.measured or self.windows.tallies.get(self.windows.phase)

    def steps(self) -> list[dict[str, Any]]:
        """Return the counts and latency percentiles (in microseconds) of each step."""
        tally = self.tally
        if tally is None:
            return []
        return [
            {
                "program": totals.program,
                "step": totals.step,
                "count": totals.count,
                "failed": totals.failed,
                **_micros(Durations.of(totals.clocks[LATENCY], totals.clocks[CENSORED])),
            }
            for totals in tally.due.values()
            if totals.step != SEQUENCE
        ]


def _micros(durations: Durations) -> dict[str, Any]:
    figures = {heading(name): us for name, us in durations.percentiles.items()}
    figures |= {"max": durations.max, "mean": durations.mean}
    rounded = {name: None if us is None else round(us, 1) for name, us in figures.items()}
    return {**rounded, "at_least": [heading(name) for name in durations.at_least]}


def _us(ns: int | None) -> float | None:
    return None if ns is None else round(ns / 1e3, 1)


def _usage(at_s: float, before: Sample, now: Sample, seconds: float) -> Usage:
    target = None
    if now.target is not None and before.target is not None:
        target = max(0.0, now.target.cpu_s - before.target.cpu_s) / seconds
    return Usage(
        at_s,
        target,
        # The sum over processes falls when a child process ends.
        max(0.0, now.generator.cpu_s - before.generator.cpu_s) / seconds,
        _busy_cores(before.machine, now.machine, seconds),
        None if now.target is None else now.target.resident_bytes,
        now.generator.resident_bytes,
        now.machine.available_bytes,
    )


def _busy_cores(before: MachineSample, now: MachineSample, seconds: float) -> float:
    cores = zip(before.cores, now.cores, strict=False)
    return sum(share(later.busy_s - core.busy_s, seconds) for core, later in cores)


def _resources(before: Sample, now: Sample, seconds: float) -> Iterable[Resource]:
    earlier = {(who, what): value for who, what, value in before.rows()}
    for who, what, value in now.rows():
        if who != "directory" and what.partition(".")[0] not in _SHOWN.get(who, ()):
            continue
        name = describe(what)
        title = "load generator" if who == "generator" else who
        if not name.counter:
            yield _resource(title, name, value, name.unit)
        elif (then := earlier.get((who, what))) is not None:
            if name.rate_unit == "share":
                per_s = share(value - then, seconds)
            elif what == "busy_s":
                attribute = who.replace("-", "_")
                per_s = _busy_cores(getattr(before, attribute), getattr(now, attribute), seconds)
            else:
                per_s = max(0.0, value - then) / seconds
            yield _resource(title, name, per_s, name.rate_unit)


def _resource(who: str, name: Figure, value: float, unit: str) -> Resource:
    if unit.startswith("bytes"):
        return Resource(who, name.title, f"{format_bytes(value)}{unit.removeprefix('bytes')}")
    if unit == "s":
        return Resource(who, name.title, format_ns(value * 1e9))
    exact = not name.counter and float(value).is_integer()
    text = f"{value:,.0f}" if exact or value >= 100 else f"{value:.2f}"
    return Resource(who, name.title, f"{text} {unit}".strip())
