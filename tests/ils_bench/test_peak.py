"""Peaks of a directory: client counts as in the papers, and unattainable objectives."""

from pathlib import Path
from typing import Any

import pytest

from sitebench.measure.objective import Objective
from sitebench.measure.peak.users import judge_users, users_answer
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.runs.store import RunStore
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import WarningKind
from tests.support.cli import in_process

PEOPLE = ("--entries", "200", "--locales", "en_US", "--threads", "1")
SHORT = ("--warmup", "100ms", "--measure", "500ms")
LOAD = (*PEOPLE, *SHORT)


def read(path: Path) -> tuple[list[PointResult], list[dict[str, Any]]]:
    with RunStore(path, create=False) as store:
        return store.results(), store.manifest()["peaks"]


def test_repeated_peak_command_measures_only_additional_client_counts(tmp_path: Path) -> None:
    # With adds, because each client count must start with the same directory.
    asked = ("ils", "peak", "add", *LOAD)
    in_process(*asked, "--clients", "2", "--out", "run", "--json", cwd=tmp_path).check(0)
    argv = (*asked, "--clients", "2,4,3", "--out", "run")
    ran = in_process(*argv, cwd=tmp_path).check(0)
    assert ran.err.count("(measured before)") == 1
    for words in ("Throughput and latency by clients", "mean response"):
        assert words in ran.out
    results, (peak,) = read(tmp_path / "run")
    assert [result.spec.users for result in results] == [2, 4, 3]
    assert {(result.spec.rate, result.failures) for result in results} == {(None, 0)}
    sound = {r.spec.key: r.ops_per_s for r in results if r.verdict.grade != "not usable"}
    best = max(sound.items(), key=lambda pair: pair[1]) if sound else (None, None)
    assert (peak["best"], peak["rate"]) == best
    assert peak["said"] in " ".join(ran.out.split())
    assert (peak["suite"], peak["operation"], peak["objective"]) == ("ils", "add", None)


def test_objective_is_judged_at_each_number_of_users(tmp_path: Path) -> None:
    """A file, numbers of users and an objective required three commands, or were impossible."""
    (tmp_path / "own.toml").write_text('[[operation]]\nname = "look"\nsearch = "(uid=user.1)"\n')
    load = (*LOAD, "--think", "20ms", "--clients", "1,2", "--out", "run")
    ran = in_process("ils", "peak", "own.toml", *load, "--objective", "max<1h", cwd=tmp_path)
    results, (peak,) = read(tmp_path / "run")
    assert [result.spec.users for result in results] == [1, 2]
    held = judge_users(series(results), objective := Objective.parse("max<1h"))
    said, users, error = users_answer(results[0].spec.what, held, objective)
    assert (peak["said"], peak["users"], peak["users_objective"]) == (said, users, "max<1h")
    assert ran.code == (0 if error is None else error.exit_code), ran.err
    assert said in " ".join((ran.out + ran.err).split())
    with RunStore(tmp_path / "run", create=False) as store:
        assert store.manifest()["objective"] == "max<1h"


@pytest.mark.alone
def test_objective_met_by_no_rate_has_its_own_exit_code(tmp_path: Path) -> None:
    # At the lowest rate, a sixteenth, ten operations are due in each window: an empty window would
    # miss no objective.
    search = ("--objective", "max<1us", "--start", "320")
    ran = in_process("ils", "peak", "lookup", *LOAD, *search, "--out", "run", cwd=tmp_path)
    results, (peak,) = read(tmp_path / "run")
    # A rate that missed the objective beside other programs is tried once more.
    assert list(dict.fromkeys(result.spec.rate for result in results)) == [320, 160, 80, 40, 20]
    assert (peak["best"], peak["rate"], peak["interval"]) == (None, None, None)
    last = results[-1].verdict
    noisy = any(each.kind == WarningKind.NOISY_MACHINE for each in last.warnings)
    if noisy or last.latency_at_most or last.bound == Bound.OTHERS:
        ran.check(1, "not known, this machine was busy with other programs: at 20/s")
        return
    assert ran.code == 3, ran.err
    lines = ran.err.strip().splitlines()
    assert "searching from 320/s up: about 1 min, longer where answers vary" in lines
    assert lines[-2].startswith("sitebench: lookup at 200: no rate from 20/s up holds max<1us: ")
    assert "asked: max<1us" in lines[-2]
    assert "--start" in lines[-1]


def test_contradicting_options_of_peak_are_refused_without_a_run_file(tmp_path: Path) -> None:
    argv = ("ils", "peak", "--clients", "2,2", "--objective", "p99<5ms")
    words = "--clients 2,2: the numbers have to rise\n  write them as 2"
    in_process(*argv, cwd=tmp_path).refuse(2, words)
    in_process("ils", "peak", "lookup,add", cwd=tmp_path).check(2, "is not one operation")
    assert not list(tmp_path.iterdir())
