from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitebench.counts.tally import Tally
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from tests.support.points import a_result, a_spec, a_tally


def write_run(path: Path, *results: PointResult, manifest: Mapping[str, Any] | None = None) -> Path:
    """Write a run file with finished points, by default with one."""
    with RunStore(path) as store:
        if manifest is not None:
            store.set_manifest(manifest)
        for result in results or (a_result(),):
            keep(store, result, a_tally())
    return path


def finish(store: RunStore, entries: int = 1_000) -> None:
    keep(store, a_result(a_spec(entries=entries)), a_tally())


def keep(store: RunStore, result: PointResult, window: Tally) -> None:
    """Store the result of a finished point and its window."""
    store.begin(result.spec)
    store.complete(store.point_id(result.spec.key), {"measure": window}, result)
    store.confirm(result.spec)
