"""Every key and every metric with a mark in Rust is tested in a cell.

The marks are `Influence` of `native/tester/scenario/src/form.rs` and of `metric.rs` of the load.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sitebench._engine import metrics
from tests.docs.scenario_form import keys
from tests.truth.cells import CELLS
from tests.truth.figures import Row
from tests.truth.key_cells import KEY_CELLS, MIXED
from tests.truth.larger import LARGER

ROOT = Path(__file__).parents[2]
_NOTHING = "Nothing"
ELSEWHERE: Mapping[str, str] = {
    "connection.tls": "tests/scenario/test_directory.py::test_tls_is_chosen_per_connection",
    "http.follow": "tests/scenario/test_sites.py::test_redirect_of_a_folder_is_followed",
    "search.page_size": "tests/scenario/test_directory.py::test_paged_search_reads_all_pages",
}
"""Marked keys that the server of `tests.truth.server` cannot test.

The named tests use another server; only the test of `http.follow` compares counts with a log.
"""
METRICS: Mapping[str, str] = {
    "latency": "latency",
    "service": "service",
    "lag": "lag",
    "wrong": "wrong",
    "censored": "unanswered",
    "abandoned": "abandoned",
    "failed": "failed_s",
    "paused": "paused_s",
    "thinking": "thinking",
}
"""Marked metrics, and the field of a row that cells compare with the log."""


def written(text: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a scenario's text, each with its table of the form."""
    scenario = tomllib.loads(text)
    tables: list[tuple[str, Mapping[str, Any]]] = [("scenario", scenario)]
    tables.append(("load", scenario.get("load", {})))
    for name in ("connection", "data"):
        tables += [(name, each) for each in scenario.get(name, {}).values()]
    for operation in scenario["operation"]:
        tables += [("operation", operation), ("card", operation), *_of_step(operation)]
    for step in scenario.get("start", {}).get("step", ()):
        tables += _of_step(step)
    yield from ((name, key) for name, table in tables for key in table)


def _of_step(step: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the tables of a step, which follow from its keys, except for `on`."""
    for name in {key.table for key in keys()} - {"scenario", "load", "operation", "card"}:
        yield name, step
    yield "expect", step.get("expect", {})
    for captured in step.get("capture", {}).values():
        yield "capture", captured if isinstance(captured, dict) else {"attribute": captured}
    for inner in step.get("step", ()):
        yield from _of_step(inner)


def test_every_key_that_changes_figures_is_in_a_cell_of_the_matrix() -> None:
    cells = [*CELLS, *KEY_CELLS, MIXED, *(each.cell for each in LARGER)]
    texts = {text for cell in cells for text in cell.scenarios}
    seen = {pair for text in texts for pair in written(text)}
    marked = {(key.table, key.name) for key in keys() if key.influence != _NOTHING}
    missing = {f"{table}.{name}" for table, name in marked - seen}
    assert missing == set(ELSEWHERE), "give each a cell, or the test that stands for one"
    assert len(marked) > 30


def test_tests_listed_in_place_of_a_cell_exist() -> None:
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(), place


def test_every_marked_metric_is_compared_with_the_log() -> None:
    marked = {name for _, name, _, _, influence in metrics() if influence != _NOTHING.lower()}
    assert marked == set(METRICS)
    assert set(METRICS.values()) <= {field.name for field in fields(Row)}
