from pathlib import Path

from sitebench.runs.store import RunStore
from tests.support.points import a_result, a_spec, a_tally


def write_run(path: Path) -> Path:
    """Write a run file with one finished point."""
    with RunStore(path) as store:
        finish(store)
    return path


def finish(store: RunStore, entries: int = 1_000) -> None:
    """Store a finished point."""
    spec = a_spec(entries=entries)
    store.begin(spec)
    store.complete(store.point_id(spec.key), {"measure": a_tally()}, a_result(spec))
    store.confirm(spec)
