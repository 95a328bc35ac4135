"""A sweep: points in stages, each stage with one target; resumable, and safe to interrupt.

Every point is confirmed in the run file before the next one starts, and a sweep over a file that
has all its points opens no target at all.

Where the tester was the limit and the target's machine had CPU left, a point is measured once more
with one engine thread more. Both tries are kept, and the better one counts: a thread more helps
where operations cost the tester much, and takes a core from the target where they do not. Runs
that are compared pair by pair have no second tries: both of a pair have the same threads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field, replace
from typing import Any, Protocol

from msgspec import structs

from sitebench.errors import SitebenchError
from sitebench.frozen import frozen
from sitebench.measure.diagnosis import void
from sitebench.measure.point_process import PointCommand, Runner
from sitebench.runs.manifest import COMPARED
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import counted
from sitebench.runs.store import RunStore
from sitebench.system.child import dump
from sitebench.system.machine import usable_cores
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.verdict import Bound, Quoted


class Endpoint(Protocol):
    """An open target, as a sweep uses it."""

    def command(self, spec: PointSpec) -> PointCommand:
        """Return how to measure a point of this target."""

    def check(self) -> None:
        """Raise if the target has gone away."""

    def facts(self) -> Mapping[str, Any]:
        """Return the facts about the target for the run file's manifest."""


class _Reporter(Protocol):
    """Shows the progress of a sweep."""

    def opening(self, title: str) -> None: ...
    def planned(self, points: int) -> None: ...
    def started(self, spec: PointSpec) -> None: ...
    def retried(self, spec: PointSpec) -> None: ...
    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None: ...
    def finished(self, result: PointResult, *, resumed: bool) -> None: ...


@frozen
class Stage:
    """Points that share one target, and how to open it."""

    title: str
    points: Sequence[PointSpec]
    open: Callable[[], AbstractContextManager[Endpoint]]
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """Texts of scenario files, by their digests."""


def repeated(
    stages: Sequence[Stage], repeats: int, lot: random.Random | None = None
) -> list[Stage]:
    """Return every stage once per repeat, interleaved, so that drift affects all equally.

    With a lot their order is drawn in each repeat, so that none is always the one that comes first.
    """
    return [
        replace(stage, points=[structs.replace(spec, repeat=n) for spec in stage.points])
        for n in range(repeats)
        for stage in (stages if lot is None else lot.sample(stages, len(stages)))
    ]


def sweep(stages: Sequence[Stage], store: RunStore, reporter: _Reporter) -> list[PointResult]:
    """Measure what is not measured yet; return the results that count of all points, in order."""
    planned = [spec for stage in stages for spec in stage.points]
    store.plan(planned)
    reporter.planned(len(planned))
    with Runner() as runner:
        return [
            result for stage in stages for result in _results_of(stage, runner, store, reporter)
        ]


def _results_of(
    stage: Stage, runner: Runner, store: RunStore, reporter: _Reporter
) -> list[PointResult]:
    """Measure what is not measured yet of a stage; return the results that count."""
    tries = {spec.key: _stored(spec, store) for spec in stage.points}
    missing = [spec for spec in stage.points if _next(spec, tries[spec.key], store) is not None]
    for spec in stage.points:
        if spec not in missing:
            reporter.finished(*counted(tries[spec.key]), resumed=True)
    if missing:
        with opened(stage, store, reporter) as endpoint:
            for spec in missing:
                while (wanted := _next(spec, tries[spec.key], store)) is not None:
                    if tries[spec.key]:
                        reporter.retried(wanted)
                    tries[spec.key].append(_measured(wanted, endpoint, runner, store, reporter))
                reporter.finished(*counted(tries[spec.key]), resumed=False)
    return [result for spec in stage.points for result in counted(tries[spec.key])]


def _stored(spec: PointSpec, store: RunStore) -> list[PointResult]:
    """Return the tries of a point that are done."""
    tries: list[PointResult] = []
    while (wanted := _next(spec, tries, store)) is not None and (known := store.result(wanted)):
        tries.append(known)
    return tries


def _next(spec: PointSpec, tries: Sequence[PointResult], store: RunStore) -> PointSpec | None:
    """Return what to measure of a point after these tries; None if they suffice."""
    if not tries:
        return spec
    return None if COMPARED in store.manifest() else second_try(tries[-1])


def second_try(result: PointResult) -> PointSpec | None:
    """Return the same point with one engine thread more, where that may show more."""
    spec, threads = result.spec, len(result.generator_cpu_s)
    machine = result.use.target_machine or result.use.machine
    chosen = spec.threads is not None or "threads" in spec.settings
    # What goes through stages is no measurement of a limit.
    chosen = chosen or spec.stages is not None
    if chosen or result.workers or spec.client != "native" or threads >= usable_cores():
        return None
    busy = machine.busy_cores >= USED_UP * len(machine.busy_per_core)
    if busy or result.verdict.bound == Bound.OTHERS or result.verdict.grade != Quoted.AT_LEAST:
        return None
    return structs.replace(spec, threads=threads + 1)


@contextmanager
def opened(stage: Stage, store: RunStore, reporter: _Reporter) -> Iterator[Endpoint]:
    """Open a stage's target and record its facts."""
    reporter.opening(stage.title)
    with stage.open() as endpoint:
        store.add_target(endpoint.facts())
        store.add_scenarios(stage.scenarios)
        yield endpoint


def measure_point(
    spec: PointSpec, endpoint: Endpoint, runner: Runner, store: RunStore, reporter: _Reporter
) -> PointResult:
    """Measure one point, and show it; raises if it does not measure its target."""
    result = _measured(spec, endpoint, runner, store, reporter)
    reporter.finished(result, resumed=False)
    return result


def _measured(
    spec: PointSpec, endpoint: Endpoint, runner: Runner, store: RunStore, reporter: _Reporter
) -> PointResult:
    """Measure one point and confirm it."""
    reporter.started(spec)
    try:
        result = runner.run(
            spec,
            store,
            endpoint.command(spec),
            lambda elapsed_s: reporter.progress(spec, elapsed_s, store),
        )
        if error := void(result):
            reporter.finished(result, resumed=False)
            raise error
        # A target that died in a stage is part of what the stages show: its warning says when.
        if spec.stages is None:
            endpoint.check()
    except SitebenchError as error:
        why = _cause(endpoint, error)
        store.fail(spec.key, dump(why))
        raise why from error
    store.confirm(spec)
    return result


def _cause(endpoint: Endpoint, error: SitebenchError) -> SitebenchError:
    """Return that the target has gone away, if it has: that explains every other error."""
    try:
        endpoint.check()
    except SitebenchError as gone:
        return gone
    return error
