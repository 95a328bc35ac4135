"""A sweep: points in stages, each stage with one target; resumable, and safe to interrupt.

Every point is confirmed in the run file before the next point starts, and a sweep over a file that
has all its points opens no target.

If the load generator was the limit and the target's machine had CPU left, the point gets a second
try with one more engine thread. Both tries are kept, and the better try counts: the thread can help
the load generator, or take a core from the target. Runs that are compared pair by pair have no
second tries, so that both points of a pair have the same threads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.errors import SitebenchError
from sitebench.measure.diagnosis import void
from sitebench.measure.point_process import Runner
from sitebench.measure.test import Test
from sitebench.runs.manifest import COMPARED
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import best_tries
from sitebench.runs.store import RunStore
from sitebench.system.child import dump
from sitebench.system.machine import usable_cores
from sitebench.targets.open_target import OpenTarget
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.verdict import Bound, Quoted


class Reporter:
    """Shows the progress of a sweep; this base class shows nothing."""

    def opening(self, title: str) -> None: ...
    def planned(self, points: int) -> None: ...
    def started(self, spec: PointSpec) -> None: ...
    def retried(self, spec: PointSpec) -> None: ...
    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None: ...
    def finished(self, result: PointResult, *, resumed: bool) -> None: ...


class Stage(msgspec.Struct, frozen=True):
    title: str
    tests: Sequence[Test]
    open: Callable[[], AbstractContextManager[OpenTarget[Any]]]


def repeat_stages(
    stages: Sequence[Stage], repeats: int, lot: random.Random | None = None
) -> list[Stage]:
    """Return all stages once per repeat, so that drift affects them equally.

    `lot` draws the order of stages in each repeat, so that no stage is always the first.
    """
    return [
        replace(stage, tests=[test.again(replace(test.spec, repeat=n)) for test in stage.tests])
        for n in range(repeats)
        for stage in (stages if lot is None else lot.sample(stages, len(stages)))
    ]


def sweep(stages: Sequence[Stage], store: RunStore, reporter: Reporter) -> list[PointResult]:
    """Measure missing points; return the counted results of all points, in order."""
    planned = [test.spec for stage in stages for test in stage.tests]
    store.plan(planned)
    reporter.planned(len(planned))
    with Runner() as runner:
        return [
            result for stage in stages for result in _results_of(stage, runner, store, reporter)
        ]


def _results_of(
    stage: Stage, runner: Runner, store: RunStore, reporter: Reporter
) -> list[PointResult]:
    tries = {test.spec.key: _read_tries(test, store) for test in stage.tests}
    missing = [test for test in stage.tests if _next(test, tries[test.spec.key], store) is not None]
    for test in stage.tests:
        if test not in missing:
            reporter.finished(*best_tries(tries[test.spec.key]), resumed=True)
    if missing:
        with open_stage(stage, store, reporter) as target:
            for test in missing:
                results = tries[test.spec.key]
                while (following := _next(test, results, store)) is not None:
                    if results:
                        reporter.retried(following.spec)
                    results.append(_measured(following, target, runner, store, reporter))
                reporter.finished(*best_tries(results), resumed=False)
    return [result for test in stage.tests for result in best_tries(tries[test.spec.key])]


def _read_tries(test: Test, store: RunStore) -> list[PointResult]:
    tries: list[PointResult] = []
    while (following := _next(test, tries, store)) and (result := store.result(following.spec)):
        tries.append(result)
    return tries


def _next(test: Test, tries: Sequence[PointResult], store: RunStore) -> Test | None:
    """Return the next try of a point; None if these tries suffice."""
    if not tries:
        return test
    spec = None if COMPARED in store.manifest() else second_try(tries[-1])
    return None if spec is None else test.again(spec)


def second_try(result: PointResult) -> PointSpec | None:
    """Return the same point with one engine thread more, if that can raise the rate."""
    spec, threads = result.spec, len(result.generator_cpu_s)
    machine = result.use.target_machine or result.use.machine
    is_set = spec.threads is not None or "threads" in spec.settings
    if is_set or result.workers or spec.client != "native" or threads >= usable_cores():
        return None
    if spec.stages is not None:  # Stages do not measure a limit.
        return None
    busy = machine.busy_cores >= USED_UP * len(machine.busy_per_core)
    if busy or result.verdict.bound == Bound.OTHERS or result.verdict.grade != Quoted.AT_LEAST:
        return None
    return replace(spec, threads=threads + 1)


@contextmanager
def open_stage(stage: Stage, store: RunStore, reporter: Reporter) -> Iterator[OpenTarget[Any]]:
    """Open a stage's target and record its facts; on an error, all points of the stage fail."""
    reporter.opening(stage.title)
    with ExitStack() as stack:
        try:
            target = stack.enter_context(stage.open())
        except SitebenchError as error:
            for test in stage.tests:
                # A search has not planned its later points yet, so these points did not fail.
                if store.status(test.spec) is not None and store.result(test.spec) is None:
                    store.fail(test.spec.key, dump(error))
            raise
        store.add_target({"name": target.name, **target.facts})
        for test in stage.tests:
            store.add_scenarios(test.scenarios)
        yield target


def measure_point(
    test: Test, target: OpenTarget[Any], runner: Runner, store: RunStore, reporter: Reporter
) -> PointResult:
    """Measure a point and show the result; raises if the point does not measure its target."""
    result = _measured(test, target, runner, store, reporter)
    reporter.finished(result, resumed=False)
    return result


def _measured(
    test: Test, target: OpenTarget[Any], runner: Runner, store: RunStore, reporter: Reporter
) -> PointResult:
    spec = test.spec
    reporter.started(spec)
    try:
        result = runner.run(
            test.at(target), store, lambda elapsed_s: reporter.progress(spec, elapsed_s, store)
        )
        if error := void(result):
            reporter.finished(result, resumed=False)
            raise error
        # In a test of stages, the result has a warning with the time at which a target died.
        if spec.stages is None:
            target.check()
    except SitebenchError as error:
        cause = error
        try:
            target.check()
        except SitebenchError as death:  # The death of the target explains every other error.
            cause = death
        store.fail(spec.key, dump(cause))
        raise cause from error
    store.confirm(spec)
    return result
