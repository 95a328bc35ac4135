"""Run files for tests."""

from pathlib import Path

from sitebench.runs.store import RunStore
from tests.support.points import a_result, a_spec, a_tally

SCHEMA_1 = Path(__file__).parent / "schema1.sitebench"
"""A sweep of two points, written by sitebench 0.1.0 and interrupted within the second."""


def finish(store: RunStore, entries: int = 1_000) -> None:
    """Enter a point that is done."""
    spec = a_spec(entries=entries)
    store.begin(spec)
    store.complete(store.point_id(spec.key), {"measure": a_tally()}, a_result(spec))
    store.confirm(spec)
