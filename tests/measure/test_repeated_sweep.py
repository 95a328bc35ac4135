"""Repeats of a sweep, measured."""

import sqlite3
from pathlib import Path

from sitebench.runs.point import PointSpec
from tests.support.cli import in_process

LOAD = ("--users", "4", "--threads", "1", "--rate", "200", "--locales", "en_US")
SHORT = ("--warmup", "100ms", "--measure", "500ms")
SWEEP = ("ps", "sweep", "--sizes", "100,200", "--out", "run", *LOAD, *SHORT)


def measured(run: Path) -> list[tuple[int, int]]:
    """Return size and repeat of every point that is done, in the order they were started."""
    query = "SELECT spec FROM points WHERE status = 'done' ORDER BY started"
    found = [PointSpec.read(row[0]) for row in sqlite3.connect(run).execute(query)]
    return [(spec.entries, spec.repeat) for spec in found]


def test_repeats_are_interleaved_over_sizes_and_resumed(tmp_path: Path) -> None:
    ran = in_process(*SWEEP, "--repeats", "2", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert measured(tmp_path / "run") == [(100, 0), (200, 0), (100, 1), (200, 1)]
    assert "scenario at 200, repeat 2 of 2" in ran.err
    assert "least..most" in ran.out
    again = in_process(*SWEEP, "--repeats", "2", "--json", cwd=tmp_path)
    assert [(p["entries"], p["spec"]["repeat"], p["resumed"]) for p in again.objects] == [
        *((100, 0, True), (200, 0, True), (100, 1, True), (200, 1, True)),
    ]
