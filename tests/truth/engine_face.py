"""The only file of `tests.truth` that uses the engine: runs a scenario's text, and reports."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from ils_bench.options import IlsOptions
from ils_bench.points import engine_config as of_directory
from ils_bench.targets.address import parse_address
from ils_bench.targets.target import OpenDirectory
from ps_bench.options import PsOptions
from ps_bench.points import engine_config as of_site
from sitebench._engine import Engine, Snapshot
from sitebench.counts import metrics
from sitebench.counts.metrics import Counter as Sum
from sitebench.counts.source import StepTotals
from sitebench.counts.stages import Stages
from sitebench.counts.tally import Tally
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.measure.objective import Objective
from sitebench.measure.summarise import summarise
from sitebench.monitor.monitor import Monitor
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.windows import Phase, Windows
from sitebench.scenario.script import HTTP, from_text
from sitebench.suite_base.points import Load
from tests.truth.figures import Key, Reported, Row, Span, Times
from tests.truth.log import SLOW_S

DRAIN_S = 0.25
"""The interval at which users start or stop, and recorders are drained."""
_LOOK_S = 0.02
_STOP_S = 5.0
_SPAN = ("begin_s", "seconds", "operations", "failures")


class _Test:
    """Users of some scenarios, and the windows of their load."""

    def __init__(self, texts: Sequence[str], port: int, threads: int) -> None:
        scripts = [from_text(name, text) for name, text in zip("abcdef", texts, strict=False)]
        self.load = scripts[0].load
        self.scripts = [each.thinking(self.load.get("think", 0.0)) for each in scripts]
        text = self.load.get("stages")
        self.stages = None if text is None else Stages.parse(text)
        self.of_users = self.stages is not None and self.stages.of_users
        span_s = math.inf if self.stages is None else self.stages.span_s
        self.windows = Windows(Monitor(None), span_s=span_s)
        self._engine = self._new_engine(port, threads)
        self._users = Counter({each.name: 0 for each in self.scripts})

    def _new_engine(self, port: int, threads: int) -> Engine:
        scripts, load = self.scripts, self.load
        tables = {name: table for each in scripts for name, table in each.own_tables.items()}
        chosen = {name: load[name] for name in ("rate", "arrivals", "timeout") if name in load}
        chosen |= {"threads": threads, "stages": self.stages}
        if scripts[0].protocol == HTTP:
            site = OpenSite("site", SiteAddress("127.0.0.1", port))
            config = of_site(Load(PsOptions(entries=1, **chosen), site, scripts))
        else:
            options, address = IlsOptions(**chosen), parse_address(f"ldap://127.0.0.1:{port}")
            directory = OpenDirectory("any", address, options.base)
            config = of_directory(Load(options, directory, scripts))
        return Engine(config, None, None, tables)

    @property
    def measured(self) -> Tally:
        assert self.windows.measured is not None
        return self.windows.measured

    @property
    def begin_ns(self) -> int:
        assert self.measured.t0_ns is not None
        return self.measured.t0_ns

    def run(self, stagger_s: float, begun: Callable[[int], None]) -> None:
        """Run the phases of a point, as `sitebench.locust.role_local` does."""
        try:
            self._start(1 if self.of_users else self.load["users"], stagger_s)
            # Stages begin with the first cut.
            if warmup_s := self.load.get("warmup", 0.0):
                self._cut(Phase.WARMUP)
                time.sleep(warmup_s)
            self._cut(Phase.MEASURE)
            measure_s = self.load["measure"] if self.stages is None else self.stages.lasts_s
            end_s = self.begin_ns / 1e9 + measure_s
            begun(self.begin_ns)
            while (left_s := end_s - time.monotonic()) > 0:
                time.sleep(min(left_s, DRAIN_S))
                if self.of_users and self.stages is not None and time.monotonic() < end_s:
                    self._have(self.stages.users_at(time.monotonic() - self.begin_ns / 1e9))
                self.windows.absorb(self._engine.drain())
            last = self._cut(Phase.AFTER)
            give_up_s = time.monotonic() + self.load["timeout"] + measure_s
            while last.owed and time.monotonic() < give_up_s:
                time.sleep(_LOOK_S)
                last = self._engine.drain()
                self.windows.absorb(last)
        finally:
            self.windows.absorb(self._engine.stop(_STOP_S))
            self.windows.close()

    def _start(self, users: int, stagger_s: float) -> None:
        for n in range(users):
            self._have(n + 1)
            time.sleep(stagger_s / users)
        self.windows.absorb(self._engine.drain())

    def _have(self, users: int) -> None:
        """Start or stop users, equally many of each scenario."""
        while (more := users - self._users.total()) != 0:
            names = sorted(self._users, key=self._users.__getitem__, reverse=more < 0)
            act = self._engine.start_lanes if more > 0 else self._engine.stop_lanes
            act(names[0], 1)
            self._users[names[0]] += 1 if more > 0 else -1

    def _cut(self, phase: Phase) -> Snapshot:
        cut = self._engine.cut()
        self.windows.enter_phase(cut, phase)
        return cut

    @property
    def result(self) -> PointResult:
        load, stages = self.load, self.stages
        counts = [key for each in self.scripts for key in each.counted_rows]
        rate = load.get("rate")
        settings = {"scenario": "cell.toml", "arrivals": load.get("arrivals", "poisson")}
        if stages is not None:
            settings["stages"] = str(stages)
            rate = None if stages.of_users else stages.mean
        times = load.get("warmup", 0.0), load.get("measure", 0.0)
        target = ("ils", "cell", 0, "truth", load.get("users", 1), rate)
        spec = PointSpec(*target, *times, settings=settings)
        result = summarise(
            spec,
            self.windows.with_starts(counts),
            counts,
            self.windows.use(),
            target_cores=None,
            native=True,
            spans=() if stages is None else self.windows.spans.spans(stages, counts),
            pools=[pool for each in self.scripts for pool in each.pools],
        )
        return structs.replace(result, sent=self.windows.sent)


def measure(
    texts: Sequence[str],
    port: int,
    *,
    threads: int = 1,
    stagger_s: float = 0.1,
    begun: Callable[[int], None] = lambda begin_ns: None,
    objectives: Sequence[str] = (),
) -> Reported:
    """Run scenarios at a target on 127.0.0.1, with `[load]` of the first.

    Users start one after another within `stagger_s`. `begun` is called with the window's begin as
    soon as it begins.
    """
    test = _Test(texts, port, threads)
    test.run(stagger_s, begun)
    result = test.result
    in_json = reported(result.to_json(), test.begin_ns, test.measured.t1_ns)
    due = test.measured.due
    rows = {
        key: replace(row, slow=slow(due[key])) if key in due else row
        for key, row in in_json.rows.items()
    }
    return replace(
        in_json,
        rows=rows,
        whole=whole(
            totals for tally in test.windows.tallies.values() for totals in tally.steps.values()
        ),
        objectives={each: Objective.parse(each).judge(result).state for each in objectives},
    )


def slow(totals: StepTotals) -> int:
    """Return the number of operations that took longer than an answer without a stall may."""
    return sum(
        n
        for clock in (metrics.LATENCY, metrics.CENSORED)
        for ns, n in totals.clocks[clock].buckets()
        if ns > SLOW_S * 1e9
    )


def whole(steps: Iterable[StepTotals]) -> Mapping[Key, Row]:
    """Return the counts of the whole test, from the counts of its phases."""
    merged: dict[Key, StepTotals] = {}
    for totals in steps:
        key = totals.program, totals.step
        merged.setdefault(key, StepTotals(*key)).add(totals)
    rows = {}
    for key, totals in merged.items():
        unanswered, thinking = totals.clocks[metrics.CENSORED], totals.counters[metrics.THINKING]
        rows[key] = Row(totals.count, totals.failed, unanswered.count, thinking)
    return rows


def reported(point: Mapping[str, Any], begin_ns: int, end_ns: int) -> Reported:
    """Read a point's JSON, as `--json` prints it; it lacks the times of its window."""
    return Reported(
        begin_ns=begin_ns,
        end_ns=end_ns,
        rows={(row["program"], row["step"]): _row(row) for row in point["steps"]},
        counted=[(row["program"], row["step"]) for row in point["steps"] if row["counted"]],
        operations=point["operations"],
        failures=point["failures"],
        latency=_times(point.get(metrics.LATENCY.key)),
        spans=[
            Span(**{n: span[n] for n in _SPAN}, longest_s=_times(span[metrics.LATENCY.key]).max)
            for span in point.get("spans", ())
        ],
        sent=point["sent"],
        state=point["settled"]["state"],
    )


def _row(row: Mapping[str, Any]) -> Row:
    service = _times(row.get(metrics.SERVICE))
    return Row(
        row["count"],
        row["failures"],
        _times(row.get(metrics.CENSORED)).n,
        int(row.get(metrics.THINKING.key) or 0),
        _times(row[metrics.LATENCY]) if metrics.LATENCY in row else service,
        service,
        lag=_times(row.get(metrics.LAG)),
        wrong=_times(row.get(metrics.WRONG)),
        abandoned=_times(row.get(metrics.ABANDONED)),
        failed_s=_sum_s(row, metrics.FAILED),
        paused_s=_sum_s(row, metrics.PAUSED),
    )


def _sum_s(row: Mapping[str, Any], counter: Sum) -> float:
    return float(row.get(counter.key) or 0.0) * int(row["count"]) / 1e6


def _times(found: Mapping[str, Any] | None) -> Times:
    if not found or not found["n"]:
        return Times()
    seconds = {
        name: None if found[name] is None else found[name] / 1e6 for name in ("p50", "p90", "p95")
    }
    return Times(found["n"], found["mean"] / 1e6, found["max"] / 1e6, **seconds)
