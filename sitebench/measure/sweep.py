"""A sweep: points in stages, each stage with one target; resumable, and safe to interrupt.

Every point is confirmed in the run file before the next one starts, and a sweep over a file that
has all its points opens no target at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sitebench.errors import SitebenchError
from sitebench.measure.diagnosis import void
from sitebench.measure.point_process import PointCommand, run_point
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system.child import dump


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
    def started(self, spec: PointSpec) -> None: ...
    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None: ...
    def finished(self, result: PointResult, *, resumed: bool) -> None: ...


@dataclass(frozen=True)
class Stage:
    """Points that share one target, and how to open it."""

    title: str
    points: Sequence[PointSpec]
    open: Callable[[], AbstractContextManager[Endpoint]]


def repeated(stages: Sequence[Stage], repeats: int) -> list[Stage]:
    """Return every stage once per repeat, interleaved, so that drift affects all equally."""
    return [
        replace(stage, points=[replace(spec, repeat=n) for spec in stage.points])
        for n in range(repeats)
        for stage in stages
    ]


def sweep(stages: Sequence[Stage], store: RunStore, reporter: _Reporter) -> list[PointResult]:
    """Measure what is not measured yet; return the results of all points, in order."""
    store.plan(spec for stage in stages for spec in stage.points)
    results = []
    for stage in stages:
        found = {spec.key: store.result(spec) for spec in stage.points}
        for known in found.values():
            if known is not None:
                reporter.finished(known, resumed=True)
        missing = [spec for spec in stage.points if found[spec.key] is None]
        if missing:
            with opened(stage, store, reporter) as endpoint:
                for spec in missing:
                    found[spec.key] = measure_point(spec, endpoint, store, reporter)
        results += [result for spec in stage.points if (result := found[spec.key])]
    return results


@contextmanager
def opened(stage: Stage, store: RunStore, reporter: _Reporter) -> Iterator[Endpoint]:
    """Open a stage's target and record its facts."""
    reporter.opening(stage.title)
    with stage.open() as endpoint:
        store.add_target(endpoint.facts())
        yield endpoint


def measure_point(
    spec: PointSpec, endpoint: Endpoint, store: RunStore, reporter: _Reporter
) -> PointResult:
    """Measure one point and confirm it; raises if it does not measure its target."""
    reporter.started(spec)
    try:
        result = run_point(
            spec,
            store,
            endpoint.command(spec),
            lambda elapsed_s: reporter.progress(spec, elapsed_s, store),
        )
        if error := void(result):
            reporter.finished(result, resumed=False)
            raise error
        endpoint.check()
    except SitebenchError as error:
        why = _cause(endpoint, error)
        store.fail(spec.key, dump(why))
        raise why from error
    store.confirm(spec)
    reporter.finished(result, resumed=False)
    return result


def _cause(endpoint: Endpoint, error: SitebenchError) -> SitebenchError:
    """Return that the target has gone away, if it has: that explains every other error."""
    try:
        endpoint.check()
    except SitebenchError as gone:
        return gone
    return error
