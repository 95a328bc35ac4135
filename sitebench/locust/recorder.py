"""The destination of a test's data: memory only, a point of a sweep, or a session's run file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import msgspec
from locust.env import Environment
from msgspec import structs

from sitebench.counts.spans import Span
from sitebench.counts.steady import MOST_WINDOWS, Steadiness
from sitebench.counts.tally import Tally
from sitebench.counts.until import Until
from sitebench.errors import SitebenchError, TargetDied
from sitebench.measure.options import LoadOptions
from sitebench.measure.point_process import Request
from sitebench.measure.summarise import summarise
from sitebench.monitor.monitor import Monitor, Probe
from sitebench.options.convert import narrow
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import other_loads, rate_at_half
from sitebench.runs.store import RunStore
from sitebench.runs.windows import Phase, PointFile, Windows
from sitebench.scenario.script import Pool
from sitebench.system.child import dump
from sitebench.verdict.warning import PointWarning
from sitebench.verdict.warnings import data_used_up, not_known, rows_held, rows_lost, target_died

T = TypeVar("T")
_EARLY_S = 0.5
"""A test whose window is shorter than its stages by more than this was stopped or still runs."""


def command_options(cls: type[T], options: LoadOptions, environment: Environment) -> T:
    """Return Locust's options as a command's options.

    The number of users comes from Locust's runner, unless stages of users set it.
    """
    runner, stages = environment.runner, options.stages
    users = 0 if runner is None else runner.target_user_count
    if stages is not None and stages.of_users:
        users = options.users
    load: Any = narrow(cls, options)
    return cast("T", replace(load, users=users))


class Observed(msgspec.Struct, frozen=True):
    """A suite's own observations of a test."""

    probe: Probe | None = None
    figures: Callable[[Tally], Mapping[str, Any]] = lambda measured: {}
    warnings: Callable[[PointSpec, Mapping[str, Any]], Sequence[PointWarning]] = (
        lambda spec, figures: ()
    )
    """Warnings of the suite, from the specification and the window's figures."""
    watch: Callable[[Iterable[Tally]], None] = lambda tallies: None


class Subject(msgspec.Struct, frozen=True):
    """A suite's facts about a test: what is monitored, counted and recorded."""

    spec: PointSpec
    facts: Callable[[Sequence[int]], Mapping[str, Any]]
    pid: int | None
    cores: int | None
    address: tuple[str, int]
    counts: Sequence[tuple[str, str]]
    native: bool
    check: Callable[[], None]
    target: Mapping[str, Any]
    pools: Sequence[Pool] = ()
    observed: Observed = Observed()

    def monitor(self, exporter: str | None) -> Monitor:
        return Monitor(self.pid, self.address, exporter=exporter, probe=self.observed.probe)

    def result(
        self, spec: PointSpec, windows: Windows, earlier: Sequence[PointResult] = ()
    ) -> PointResult | None:
        """Return the measured window's result, if any; `earlier` are results of the same run."""
        if windows.measured is None:
            return None
        figures = self.observed.figures(windows.measured)
        warnings = [*self.observed.warnings(spec, figures)]
        if spec.until is not None:
            intervals = windows.intervals(set(self.counts))
            if not spec.until.is_precise(intervals):
                used_up = windows.used_up_s is not None
                measured_s = windows.measured.seconds
                warnings.append(
                    not_known(spec.until, intervals.too_alike, measured_s, used_up=used_up)
                )
        lost_rows, ended_s = windows.measured.lost_rows, math.inf
        if windows.used_up_s is not None:
            ended_s = measured_s = windows.measured.seconds
            warnings.append(data_used_up(windows.used_up_s, measured_s, spec.measure_s, lost_rows))
        elif lost_rows:
            warnings.append(rows_lost(lost_rows))
        if waited_ns := windows.measured.row_wait_ns:
            warnings.append(rows_held(waited_ns / 1e9))
        spans: tuple[Span, ...] = ()
        if spec.stages is not None:
            if windows.measured.seconds < spec.stages.lasts_s - _EARLY_S:
                # The test was stopped early or still runs: nothing more was due.
                ended_s = min(ended_s, windows.measured.seconds)
            spans = windows.spans.spans(spec.stages, self.counts, ended_s)
            if windows.phase is Phase.AFTER and (died := self._death(windows)) is not None:
                warnings.append(died)
        result = summarise(
            spec,
            windows.with_starts(self.counts),
            self.counts,
            windows.use(),
            target_cores=self.cores,
            native=self.native,
            figures=figures,
            warnings=warnings,
            workers=windows.workers,
            spans=spans,
            rate_at_half=rate_at_half(spec, earlier),
            other_loads=other_loads(spec, earlier),
            pools=self.pools,
        )
        return structs.replace(result, sent=windows.sent)

    def _death(self, windows: Windows) -> PointWarning | None:
        try:
            self.check()
        except TargetDied as error:
            measured = windows.measured
            began_ns = (measured and measured.t0_ns) or windows.answered_ns
            after_s = max(0.0, (windows.answered_ns - began_ns) / 1e9)
            return target_died(after_s, error.message)
        return None


class Recording(msgspec.Struct):
    """The destination of one test's data, and the action at the end of its window."""

    subject: Subject
    windows: Windows
    finished: Callable[[Windows], None]
    until_stopped: bool = False
    """Whether the window ends with the test; otherwise a test that is stopped early has no
    window."""
    until: Until | None = None
    grows: bool = False
    """Whether a window that is too short is extended, because no option set its length."""

    def watch(self) -> None:
        self.subject.observed.watch(self.windows.tallies.values())

    def further_s(self, seconds: float, window_s: float) -> float:
        """Return how many more seconds the window needs; 0 if it is long enough."""
        precision = self.until
        steps = set(self.subject.counts)
        if precision is not None and not precision.is_precise(self.windows.intervals(steps)):
            # Each check reads all measurements, so the time between checks grows with the window.
            return max(0.0, min(max(window_s, seconds / 10), precision.limit_s - seconds))
        # Each extension may end a little late, so half a window is left as a margin.
        longer = self.grows and self._is_undecided and seconds < (MOST_WINDOWS - 0.5) * window_s
        return window_s if longer else 0.0

    @property
    def _is_undecided(self) -> bool:
        """Whether the window is too short to distinguish a measured drift from chance."""
        if (measured := self.windows.measured) is None:
            return False
        is_open = self.subject.spec.rate is not None
        settled = measured.settle(self.subject.counts, is_open=is_open)
        return settled.state == Steadiness.TOO_SHORT and settled.slope_percent is not None


class PointRecorder:
    """Records the point that a command sent to this process."""

    def __init__(self, request: Request) -> None:
        self._test = request.test
        self._store = RunStore(request.store, create=False, joins=True)

    def recording(self, subject: Subject, exporter: str | None) -> Recording:
        store, spec, key = self._store, self._test.spec, self._test.spec.key
        monitor = subject.monitor(exporter)
        store.count(key, subject.counts)

        def complete(windows: Windows) -> None:
            if (result := subject.result(spec, windows, store.results())) is not None:
                windows.complete(result)

        span_s = math.inf if spec.stages is None else spec.stages.span_s
        windows = Windows(monitor, PointFile(store, store.join(key)), span_s=span_s)
        grows = not self._test.options.is_set("measure")
        return Recording(subject, windows, complete, until=spec.until, grows=grows)

    def close(self) -> None:
        self._store.close()

    def record_failure(self, error: SitebenchError) -> None:
        self._store.fail(self._test.spec.key, dump(error))
