"""`sitebench compare` as users run it: two files, and two targets in turn."""

import contextlib
import json
import signal
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from sitebench.errors import BadRunFile
from sitebench.runs.runfile import RunFile
from tests.compare.made import MANIFEST, interleaved, noisy, write_run
from tests.support.cli import SITEBENCH, in_process, sitebench
from tests.support.points import a_spec
from tests.support.waiting import eventually

COMMAND = (
    "ils run lookup --entries 100 --locales en_US --users {} --rate 100 --warmup 0s "
    "--measure 300ms --target-threads 1 --threads 1"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: a (15,000/s), b (5 % less), c (as a), and others for refusals."""
    folder = tmp_path_factory.mktemp("runs")
    interleaved(folder / "a", noisy(10, 15_000, 1), "a")
    interleaved(folder / "b", noisy(10, 14_250, 2), "b")
    interleaved(folder / "c", noisy(10, 15_000, 3), "c")
    write_run(folder / "users", (a_spec(users=8), noisy(10, 15_000, 4)))
    write_run(folder / "few", (a_spec(), noisy(3, 15_000, 5)))
    other = {**MANIFEST, "cpu": {"model": "another", "cores": 64, "usable": 64}}
    write_run(folder / "elsewhere", (a_spec(), noisy(10, 15_000, 6)), manifest=other)
    (folder / "text").write_text("not a run file")
    return folder


def test_slower_run_has_verdict_figures_and_detectable_difference(runs: Path) -> None:
    ran = in_process("compare", "a", "b", cwd=runs, COLUMNS="80").check(0)
    assert "lookup at 1k, 64 users: B is slower: -5." in ran.out
    for words in ("Median of", "A/A null", "could show", "Decided by pairs"):
        assert words in ran.out
    assert "…" not in ran.out
    assert max(map(len, ran.out.splitlines()[4:20])) <= 160


def test_json_contains_every_value_of_a_comparison(runs: Path) -> None:
    ran = in_process("compare", "a", "b", "--json", cwd=runs).check(0)
    found = json.loads(ran.out)
    assert found["design"] == "pairs"
    rate = found["points"][0]["measures"]["ops_per_s"]
    assert len(rate["a"]) == len(rate["b"]) == 10
    assert rate["low"] < rate["ratio"] < rate["high"] < 1
    assert rate["null"]["low"] < 1 < rate["null"]["high"]
    assert not rate["null"]["alarmed"]


def test_fail_on_slower_sets_the_exit_code(runs: Path) -> None:
    slower = in_process("compare", "a", "b", "--fail-on", "slower", cwd=runs).check(3)
    assert slower.err.startswith("sitebench: lookup at 1k, 64 users: B is slower")
    assert in_process("compare", "b", "a", "--fail-on", "slower", cwd=runs).code == 0
    assert in_process("compare", "a", "c", "--fail-on", "slower", cwd=runs).code == 0


@pytest.mark.parametrize(
    ("b", "why"),
    [
        ("few-b", "too few repeats for operations/s, latency p50, latency p95, latency p99"),
        ("spoiled-b", "not compared"),
        ("no-p99-b", "some repeats have no latency p99"),
        ("unfinished-b", "B has not finished"),
        ("less-b", "only A has add at 1k"),
        ("apart-b", "measured apart: not decided"),
    ],
)
def test_inconclusive_comparison_has_its_own_exit_code(tmp_path: Path, b: str, why: str) -> None:
    same, add = noisy(10, 15_000, 2), (a_spec("add"), noisy(10, 5_100, 3))
    more = [add] if b == "less-b" else []
    interleaved(tmp_path / "a", noisy(10, 15_000, 1), "a", None, *more)
    sides: dict[str, dict[str, Any]] = {
        "few-b": {"rates": same[:4]},
        "spoiled-b": {"spoiled": range(5)},
        "no-p99-b": {"rates": [*same[:9], 4_000]},
        "unfinished-b": {"planned": [a_spec(repeat=10)]},
    }
    if b == "apart-b":
        write_run(tmp_path / "b", (a_spec(), noisy(10, 7_500, 2)))
    else:
        interleaved(tmp_path / "b", side="b", **{"rates": same, **sides.get(b, {})})
    ran = in_process("compare", "a", "b", "--fail-on", "slower", cwd=tmp_path).check(4, why)
    assert ran.err.startswith("sitebench: cannot tell whether B is slower: ")
    assert in_process("compare", "a", "b", cwd=tmp_path).code == 0


def test_runs_with_different_options_are_refused_unless_the_option_is_compared(runs: Path) -> None:
    message = "the runs measured with different options: users (64 / 8)\n"
    assert in_process("compare", "few", "users", cwd=runs).refuse(2, message).out == ""
    ran = in_process("compare", "a", "users", "--varying", "--users", cwd=runs).check(0)
    assert "users: 64 / 8" in ran.out


def test_comparison_of_runs_apart_in_time_or_machine_begins_with_a_remark(runs: Path) -> None:
    ran = in_process("compare", "few", "elsewhere", cwd=runs).check(0)
    assert "measured apart: not decided" in ran.out
    assert "THE LOAD GENERATORS RAN ON DIFFERENT MACHINES, by their processor" in ran.out
    assert ran.out.index("DIFFERENT MACHINES") < ran.out.index("Median of")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("a", "nowhere"), "no run file at nowhere"),
        (("text", "a"), "text is not a run file of sitebench"),
        (("a", "a"), "A and B are the same file"),
        (("a", "b", "--out", "x"), "--out needs --interleave"),
        (("a", "b", "--html", "nowhere/x.html"), "cannot write nowhere/x.html"),
        (("1", "2", "--interleave", "ils run"), "has no {}"),
        (
            ("1", "2", "--interleave", "ils run {}", "--varying", "users"),
            "--varying does not go with --interleave",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(runs: Path, argv: tuple[str, ...], said: str) -> None:
    ran = in_process("compare", *argv, cwd=runs).refuse(2)
    assert said in ran.err.splitlines()[0]


def repeats_done(path: Path) -> int:
    with contextlib.suppress(BadRunFile), RunFile(path) as file:  # it may be incomplete yet
        return sum(point.status == "done" for point in file.points())
    return 0


@pytest.mark.timeout(300)
def test_interleaved_comparison_resumes_after_ctrl_c(tmp_path: Path) -> None:
    argv = ("compare", "2", "4", "--interleave", COMMAND, "--repeats", "5", "--out", "both")
    a, b = tmp_path / "both-a.sitebench", tmp_path / "both-b.sitebench"
    command = [*SITEBENCH, *argv, "--fail-on", "slower"]
    begun = Popen(command, stdout=PIPE, stderr=PIPE, cwd=tmp_path, text=True)
    try:
        assert eventually(
            lambda: min(repeats_done(a), repeats_done(b)) >= 1 or begun.poll() is not None,
            within_s=120,
        )
        begun.send_signal(signal.SIGINT)
        out, err = begun.communicate(timeout=90)
    finally:
        begun.kill()
    assert (begun.returncode, out) == (130, ""), err
    assert "with 5 repeats of 1 point, B cannot pass: that needs --repeats " in err
    assert "resume with: sitebench compare 2 4 --interleave" in err
    turn, *_ = (line for line in err.splitlines() if line.startswith(".. "))
    assert turn.startswith(".. 1/10 ")
    assert "repeat 1" in turn
    before = repeats_done(a), repeats_done(b)
    assert sum(before) < 10

    ran = sitebench(*argv, "--json", cwd=tmp_path, timeout_s=250).check(0)
    assert (repeats_done(a), repeats_done(b)) == (5, 5)
    found = json.loads(ran.out)
    assert found["compared"] == [{"name": "users", "a": "2", "b": "4"}]
    assert found["design"] == "pairs"
    with RunFile(a) as first, RunFile(b) as second:
        begins = [p.started or 0 for file in (first, second) for p in file.points()]
        turns = sorted(range(10), key=begins.__getitem__)
    assert [sorted(n % 5 for n in turns[at : at + 2]) for at in range(0, 10, 2)] == [
        [n, n] for n in range(5)
    ]
