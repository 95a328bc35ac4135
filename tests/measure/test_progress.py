"""The terminal's output for a running sweep: a line for each fact, also if it is narrow."""

import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.measure import progress
from sitebench.measure.progress import LiveProgress, counting
from sitebench.monitor.others import Others
from sitebench.runs.point import PointSpec
from sitebench.runs.store import RunStore
from tests.support.cli import in_process
from tests.support.drains import Drain, Step
from tests.support.points import a_result, a_spec

SPEC = replace(a_spec("scenario"), measure_s=5)


def test_lengthened_window_is_reported_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveProgress(counting(1)) as live:
        # A busy machine ended the window late.
        live.finished(replace(a_result(SPEC), seconds=15.2), resumed=False)
    assert len(capsys.readouterr().err.splitlines()) == 1
    with LiveProgress(counting(1), grows=True) as live:
        live.finished(replace(a_result(SPEC), seconds=5.4), resumed=False)
        live.finished(replace(a_result(SPEC), seconds=15.2), resumed=False)
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("ok") for line in lines] == [True, True, False]
    assert lines[2] == (
        f".. {SPEC.title}: its window grew from 5s to 15s, as a change of the rate might be a "
        "drift; --measure 5s keeps it"
    )


def test_busy_programs_are_named_before_the_first_point(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = iter([Others(1.7, 2, (("[rustc]", 1.2),))])
    monkeypatch.setattr(progress, "other_programs", lambda: next(looks))
    with LiveProgress(counting(1)) as live:
        live.opening("target")
        live.started(SPEC)
        live.started(SPEC)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("note Other programs use 1.7 of this machine's 2 cores ([rustc] 1.2):")
    with LiveProgress(counting(1), quiet=True) as live:
        live.started(SPEC)
    assert not capsys.readouterr().err


def test_rate_that_misses_the_objective_is_not_printed_as_ok(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = iter(["broke: p99 is 9 ms [asked]", None])
    with LiveProgress(counting(1), judged=lambda result: next(answers)) as live:
        live.finished(a_result(SPEC), resumed=False)
        live.finished(a_result(SPEC), resumed=False)
    broke, held = capsys.readouterr().err.splitlines()
    assert broke.startswith("note ")
    assert broke.endswith("0 failures, broke: p99 is 9 ms [asked]")
    assert held.startswith("ok ")


def test_progress_shows_the_rate_of_an_operation_without_its_step_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logins were printed as `5,022/s of sequence`."""
    monkeypatch.setattr(progress, "other_programs", lambda: Others(0.0, 2))
    with LiveProgress(counting(1)) as live, RunStore(tmp_path / "a.sitebench") as store:
        live.planned(1)
        live.started(SPEC)
        store.begin(SPEC)
        store.count(SPEC.key, [("login", "sequence")])
        steps = (Step("login", "sequence", 1_000),)
        store.append(store.point_id(SPEC.key), "measure", Drain(0, 500_000_000, steps))
        live.progress(SPEC, 1.0, store)
    assert "2,000/s so far" in capsys.readouterr().err


def test_each_progress_line_has_the_point_number_and_is_not_wrapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(progress, "other_programs", lambda: Others(0.0, 2))
    with LiveProgress(counting(1)) as live, RunStore(tmp_path / "a.sitebench") as store:
        live.planned(2)
        live.started(SPEC)
        store.begin(SPEC)
        steps = (Step("scenario", "image", 9_000), Step("scenario", "page", 1_000))
        store.append(store.point_id(SPEC.key), "measure", Drain(0, 500_000_000, steps))
        live.progress(SPEC, 1.0, store)
        live.retried(replace(SPEC, threads=2))
        live.finished(a_result(SPEC), resumed=False)
        live.finished(a_result(SPEC), resumed=True)
    named = SPEC.title
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        f".. 1/2 {named}: 20,000/s of operations so far",
        f".. 1/2 {named}: once more with 2 threads, as the load generator was the limit",
    ]
    assert [line.split(":")[0] for line in lines[2:]] == [f"ok 1/2 {named}", f"ok 2/2 {named}"]
    assert lines[3].endswith("(measured before)")


# Repeats of a measured sweep.

LOAD = ("--users", "4", "--threads", "1", "--rate", "200", "--locales", "en_US")
SHORT = ("--warmup", "100ms", "--measure", "500ms")
SWEEP = ("ps", "sweep", "--sizes", "100,200", "--out", "run", *LOAD, *SHORT)


def measured(run: Path) -> list[tuple[int, int]]:
    """Return size and repeat of every finished point, in the order of their starts."""
    query = "SELECT spec FROM points WHERE status = 'done' ORDER BY started"
    found = [PointSpec.read(row[0]) for row in sqlite3.connect(run).execute(query)]
    return [(spec.entries, spec.repeat) for spec in found]


def test_repeats_are_interleaved_over_sizes_and_can_be_resumed(tmp_path: Path) -> None:
    ran = in_process(*SWEEP, "--repeats", "2", cwd=tmp_path).check(0)
    assert measured(tmp_path / "run") == [(100, 0), (200, 0), (100, 1), (200, 1)]
    assert "scenario at 200, repeat 2 of 2" in ran.err
    assert "least..most" in ran.out
    again = in_process(*SWEEP, "--repeats", "2", "--json", cwd=tmp_path)
    assert [(p["entries"], p["spec"]["repeat"], p["resumed"]) for p in again.objects] == [
        *((100, 0, True), (200, 0, True), (100, 1, True), (200, 1, True))
    ]
