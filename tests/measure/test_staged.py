"""`--stages`: a rate that rises and falls, and its results minute by minute."""

import csv
import itertools
import math
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.system.network import free_port
from tests.measure.test_window_edge import ran_beside
from tests.support.children import children
from tests.support.cli import Ran, in_process
from tests.support.relay import Changing, Way, losing, relayed
from tests.support.runs import write_run
from tests.support.workers import forked_workers

LOAD = ("ils", "run", "lookup", "--entries", 100, "--locales", "en_US", "--users", 4)
EVEN = (*LOAD, "--threads", 2, "--arrivals", "even")


def _standing_still(after: int, seconds: float) -> Way:
    """Hold everything back for a time after some pieces, and then send all of it."""
    way, numbers = Changing(), itertools.count(1)

    def forward(piece: bytes, client: socket.socket) -> None:
        if next(numbers) == after:
            way.now = losing(seconds)
        way(piece, client)

    return forward


def held_up(point: dict[str, Any]) -> bool:
    """Return whether the load generator lacked a core or was late: its threads, or a whole span."""
    use, threads = point["resources"], point["generator"]["cpu_s_per_thread"]
    wanted_s = sum(threads) + (use["generator"]["waited_s"] or 0.0)
    late, busy = (
        [each[of] or 0.0 for each in point["spans"]] for of in ("tester_late", "tester_busy")
    )
    return wanted_s >= 0.7 * len(threads) * use["seconds"] or max(late) >= 0.5 or max(busy) >= 0.9


def crowded(point: dict[str, Any]) -> bool:
    """Return whether other programs used at least half of this machine."""
    use = point["resources"]
    ours_s = sum(each["cpu_s"] for each in (use["generator"], use.get("target")) if each)
    busy = use["machine"]["busy_per_core"]
    return bool(sum(busy) - ours_s / use["seconds"] >= 0.5 * len(busy))


def assert_limited_by_no_load(point: dict[str, Any]) -> None:
    """Check the verdict of stages: the load generator is the limit only if the figures show it."""
    others = "other programs used" in point["evidence"] and crowded(point)
    allowed = {"staged"} | ({"generator"} if held_up(point) or others else set())
    allowed |= {"others"} if others else set()
    assert point["verdict"] in allowed, point["evidence"]
    assert point["valid"] == (point["verdict"] == "staged"), point["evidence"]


def test_operations_of_each_span_equal_the_integral_of_its_rate(tmp_path: Path) -> None:
    out = tmp_path / "staged.sitebench"
    stages = "2s:400,2s:400,1s:0,1s:0,1s:200"
    command = (*EVEN, "--stages", stages, "--json", "--out", out)
    (point,) = in_process(*command).objects
    # 200 and 600 up, 800 each, 200 down, none, 100 up again.
    spans = point["spans"]
    assert [round(each["asked"]) for each in spans] == [100, 300, 400, 400, 200, 0, 100]
    for each in spans:
        assert each["operations"] == pytest.approx(each["asked"], abs=1), each
    assert sum(each["operations"] for each in spans) == 1_500
    assert_limited_by_no_load(point)
    assert point["settled"]["state"] == "staged"
    assert point["rate"] == pytest.approx(1_500 / 7)
    assert point["warmup_s"] == 0
    assert point["spec"]["settings"]["stages"] == stages

    rows = in_process("export", out, "--what", "spans").out.splitlines()
    assert len(rows) == 1 + len(spans)
    assert "asked_per_s" in rows[0]
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    figures = ("--figures", tmp_path / "figures")
    in_process("report", out, "--out", page, "--markdown", text, *figures).check(0)
    (drawn,) = (tmp_path / "figures").glob("stages-*.svg")
    assert all(f">{name}</text>" in drawn.read_text() for name in ("asked for", "p50", "max"))
    assert '<h2 id="stages-title">Stages</h2>' in page.read_text()
    assert (
        "The load changed in stages: each minute has its figures below." in text.read_text()
    ) == point["valid"]
    assert "every 1s: the stages last less than three minutes" in text.read_text()
    assert in_process(*command).objects[0]["spans"] == spans


def test_delayed_operations_count_in_the_span_of_their_arrival() -> None:
    """Not in the span of the answer, seconds later; other spans have no such delays."""
    way = _standing_still(after=240, seconds=4.0)
    with LdapDirectory(100, locales=("en_US",)) as directory, relayed(directory.port, way) as port:
        target = ("--target", f"ldap://127.0.0.1:{port}")
        (point,) = in_process(
            *EVEN, *target, "--stages", "1ms:100,11990ms:100", "--json", "--allow-failures"
        ).objects
    assert_limited_by_no_load(point)
    spans = point["spans"]
    assert len(spans) == 12
    assert all(each["operations"] == pytest.approx(each["asked"], abs=2) for each in spans)
    # The stall begins at 2.4 s, less the pieces used for opening the target; an operation due a
    # second later waits a second less. Delays by a busy machine appear before the stall and well
    # after it.
    largest = [each["latency_us"]["max"] for each in spans]
    assert max(*largest[:2], *largest[-2:]) < min(largest[2:4]), largest
    mean = [each["latency_us"]["mean"] for each in spans]
    assert mean[3] > mean[4] > mean[5] > max(mean[-2:]), mean
    assert spans[3]["lag_us"]["mean"] / 1e6 > 0.3
    # The target stalled: its lanes were all in use, however late the load generator was.
    assert sum(each["tester_late"] > 0.5 for each in spans[3:6]) <= 1, spans


def test_spans_with_a_stalled_generator_are_named(tmp_path: Path) -> None:
    """Seven good minutes of eight hide a bad one in every mean of the whole run."""
    out = tmp_path / "still.sitebench"

    def stop(began: float) -> tuple[float, int, int]:
        tester = _tester()
        time.sleep(2.0)
        os.kill(tester, signal.SIGSTOP)
        stopped = time.monotonic_ns()
        time.sleep(2.5)
        went_on = time.monotonic_ns()
        os.kill(tester, signal.SIGCONT)
        return began, stopped, went_on

    stages = ("--stages", "1ms:100,9s:100", "--json")
    ran, (began, stopped, went_on) = ran_beside(stop, out, *EVEN, *stages)
    (point,) = ran.objects
    assert (point["verdict"], point["grade"]) == ("generator", "at least")
    # One stretch, or more if other programs delayed the load generator too; the good spans are not
    # named.
    named = re.match(
        "the load generator was the limit from (.*); the other rows are the target's;",
        point["evidence"],
    )
    assert named, point["evidence"]
    stretches = [range(*map(int, each)) for each in re.findall(r"0:(\d\d) to 0:(\d\d)", named[1])]
    still = {*range(math.ceil((stopped - began) / 1e9), min(9, int((went_on - began) / 1e9)))}
    assert any(still <= {*each} for each in stretches if len(each) >= 2), (still, named[1])
    spans = point["spans"]
    assert sum(map(len, stretches)) < len(spans), named[1]
    late = {each["begin_s"] for each in spans if each["tester_late"] >= 0.5}
    assert late >= {second for each in stretches for second in each}, spans
    # Two operations wait on a thread only if one waits for 20 ms.
    for one, after in pairwise(spans):
        if max(each["lag_us"]["max"] for each in (one, after)) < 10_000:
            assert one["tester_late"] < 0.5, (one, after)


def _tester() -> int:
    """Return the process ID of the point that this process has measured."""
    [runner] = children(os.getpid(), "sitebench.locust.runner")
    return runner.pid


def test_death_of_the_target_keeps_the_spans_and_is_reported_in_one_line(tmp_path: Path) -> None:
    """The target does not come back, so all later arrivals fail."""
    out = tmp_path / "died.sitebench"
    with LdapDirectory(100, locales=("en_US",)) as directory:
        target = ("--target", directory.url)
        stages = ("--stages", "1ms:200,9s:200", "--timeout", "1s")
        told = ("--json", "--junit", tmp_path / "died.xml")

        def close(began: float) -> tuple[float, int]:
            time.sleep(2.0)
            directory.close()
            return began, time.monotonic_ns()

        ran, (began, closed) = ran_beside(close, out, *EVEN, *target, *stages, *told)
    (point,) = ran.objects
    spans = point["spans"]
    assert [each["operations"] for each in spans] == pytest.approx([200] * 9, abs=2)
    # A busy machine may delay its end, so that an operation waits for its timeout.
    assert spans[0]["failures"] < 100, spans
    assert spans[-1]["failures"] == pytest.approx(200, abs=2), spans
    # Operations due after the end have failed, and none was answered.
    after = [each for each in spans if each["begin_s"] >= (closed - began) / 1e9]
    assert after or closed - began > 8e9
    assert all(each["failures"] == each["operations"] for each in after), spans
    (died,) = [each for each in point["warnings"] if each["kind"] == "target-died"]
    assert "s into the stages, and what was due after counts as failed" in died["message"]
    assert ran.code == 1
    (line,) = [line for line in ran.err.splitlines() if line.startswith("sitebench: ")]
    assert died["message"] in line
    assert 'errors="1"' in (tmp_path / "died.xml").read_text()

    assert len(in_process("export", out, "--what", "spans").out.splitlines()) == 1 + len(spans)
    page = tmp_path / "page.html"
    assert in_process("report", out, "--out", page).code == 0
    assert '<h2 id="stages-title">Stages</h2>' in page.read_text()
    assert "s into the stages, and what was due after" in page.read_text()


def test_terminal_table_of_stages_has_a_row_for_each_span() -> None:
    printed = in_process(*EVEN, "--stages", "1s:200,1s:300").out
    assert "stages 1s:200, 1s:300" in printed
    assert "lookup at 100, every 1s: the stages last less than three minutes" in printed
    assert "answered/s   fails   began late" in printed
    (last,) = [line for line in printed.splitlines() if line.strip().startswith("0:01 ")]
    assert last.split()[1:3] == ["250", "250"]


def test_random_arrivals_of_stages_have_the_rate_of_the_stages() -> None:
    (point,) = in_process(*LOAD, "--stages", "1s:1000,2s:1000", "--json").objects
    # 2,500 with a standard deviation of 50.
    assert sum(each["operations"] for each in point["spans"]) == pytest.approx(2_500, abs=250)


def test_file_of_minutes_yields_the_stages_of_its_rows(tmp_path: Path) -> None:
    (tmp_path / "monday.csv").write_text("minute,rate\n0.025,100\n0.05,100\n")
    stages = ("--stages", f"@{tmp_path}/monday.csv")
    ran = in_process(*EVEN, *stages, "--objective", "failures<1%", "--json")
    (point,) = ran.objects
    # An objective applies to the whole run; beside other programs it is unknown.
    assert ran.code == 0 or (point["verdict"] == "others" and "unknown at" in ran.err), ran.err
    assert_limited_by_no_load(point)
    assert point["spec"]["settings"]["stages"] == "1500ms:100,1500ms:100"
    assert sum(each["operations"] for each in point["spans"]) == 225


SCENARIO = """
[load]
users = 4
arrivals = "even"
stages = ["1s:200/s", "1s:200/s"]

[data.account]
people = "seeded"

[[operation]]
name = "one"
search = "(cn={account.cn})"
"""


def test_command_line_overrides_the_stages_of_a_scenario_file(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(SCENARIO)
    run = ("ils", "run", tmp_path / "mix.toml", "--entries", 100, "--locales", "en_US", "--json")
    (point,) = in_process(*run).objects
    assert point["spec"]["settings"]["stages"] == "1s:200,1s:200"
    assert sum(each["operations"] for each in point["spans"]) == 300
    (point,) = in_process(*run, "--stages", "1s:100").objects
    assert sum(each["operations"] for each in point["spans"]) == 50
    (point,) = in_process(*run, "--rate", 100, "--measure", "1s", "--warmup", "0s").objects
    assert "stages" not in point["spec"]["settings"]
    assert point["verdict"] != "staged"


USERS = SCENARIO.replace("users = 4\n", 'think = "4ms"\n').replace('arrivals = "even"\n', "")
USERS = USERS.replace('"1s:200/s", "1s:200/s"', '"{0}s:8", "{0}s:8", "1ms:1", "{0}s:1"')


def _with_users(tmp_path: Path, *more: object, stage_s: int = 2) -> Ran:
    (tmp_path / "mix.toml").write_text(USERS.replace("{0}", str(stage_s)))
    run = ("ils", "run", tmp_path / "mix.toml", "--entries", 100, "--locales", "en_US")
    return in_process(*run, *more)


def _users_who_come_and_go(tmp_path: Path, out: Path, *more: object) -> dict[str, Any]:
    """Run stages of users, longer if the machine is slow: it may take seconds to start a user."""
    for stage_s in (2, 8, 32):
        out.unlink(missing_ok=True)
        (point,) = _with_users(tmp_path, "--json", "--out", out, *more, stage_s=stage_s).objects
        table = csv.DictReader(in_process("export", out, "--what", "timeline").out.splitlines())
        at = {int(row["t_ns"]): int(row["lanes"]) for row in table if row["phase"] == "measure"}
        lanes = [at[t_ns] for t_ns in sorted(at)]
        if ({1, 8} < {*lanes} and lanes[-1] == 1) or not (held_up(point) or crowded(point)):
            break
    assert {1, 8} < {*lanes}, lanes
    assert (max(lanes), lanes[-1]) == (8, 1), lanes
    rising = lanes[: len(lanes) - lanes[::-1].index(8)]
    assert rising == sorted(rising)
    assert point["spec"]["users"] == 8
    assert_limited_by_no_load(point)
    assert point["spec"]["rate"] is None
    spans = point["spans"]
    assert not any("asked" in each for each in spans)
    # 1 to 8 at first, 8 and 1 then.
    users_s = sum(each["users"] * each["seconds"] for each in spans)
    assert users_s == pytest.approx((4 + 8 + 1) * stage_s, abs=0.01)
    assert held_up(point) or crowded(point) or all(each["operations"] > 0 for each in spans), spans
    # Each operation belongs to one span, and no user is stopped within an operation.
    operations = sum(each["operations"] for each in spans)
    assert operations == pytest.approx(point["operations"], abs=8)
    return point


def test_stages_in_a_scenario_file_set_the_number_of_users(tmp_path: Path) -> None:
    out = tmp_path / "users.sitebench"
    point = _users_who_come_and_go(tmp_path, out)
    assert min(each["users"] for each in point["spans"]) == 1
    figures, text = tmp_path / "figures", tmp_path / "page.md"
    in_process("report", out, "--markdown", text, "--figures", figures).check(0)
    (drawn,) = figures.glob("stages-*.svg")
    assert ">users</text>" in drawn.read_text()
    assert "each operation is in the row in which it began" in text.read_text()


def test_command_line_overrides_users_of_a_file(tmp_path: Path) -> None:
    more = ("--users", 2, "--measure", "1s", "--warmup", "0s", "--json")
    (point,) = _with_users(tmp_path, *more).objects
    assert (point["spec"]["users"], "spans" in point) == (2, False)
    (point,) = _with_users(tmp_path, "--stages", "1s:3 users", "--json").objects
    assert point["spec"]["users"] == 3
    assert [each["users"] for each in point["spans"]] == [1.5]


def test_sweep_over_clients_measures_stages_of_users_once(tmp_path: Path) -> None:
    """For each number of clients of a workload the same test ran, labelled with that number."""
    argv = ("web", "sweep", "webbench1-static", "--threads", 1, "--stages", "1s:3 users")
    (point,) = in_process(*argv, "--json", cwd=tmp_path).objects
    assert point["spec"]["users"] == 3
    assert [each["users"] for each in point["spans"]] == [1.5]


STAGES = ("--stages", "1s:100")
INTERLEAVED = ("compare", "1", "2", "--repeats", "5", "--out", "o", "--interleave")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((*LOAD, *STAGES, "--rate", 5), "--rate and --stages both set"),
        ((*LOAD, *STAGES, "--measure", "5s"), "--measure and --stages both set"),
        ((*LOAD, *STAGES, "--warmup", "1s"), "--warmup and --stages both set"),
        ((*LOAD, *STAGES, "--until", "p99:5%"), "--until and --stages both set"),
        ((*LOAD, *STAGES, "--think", "1s"), "--think and --stages both set"),
        (("ils", "peak", "lookup", *STAGES), "peak chooses the rates itself"),
        (("ils", "vary", "lookup", *STAGES, "--vary", "users=1,2"), "not in `vary`"),
        (("ils", "vary", "lookup", "--vary", "stages=1s:5"), "no constant rate to compare"),
        (("ils", "vary", "mix.toml", "--vary", "users=1,2"), "a --rate if a scenario file"),
        (("ils", "peak", "mix.toml"), "for a scenario file with stages"),
        (("ils", "sweep", "--paper", *STAGES), "not in `--paper`"),
        (("web", "sweep", "--paper", *STAGES), "not in `--paper`"),
        (
            ("web", "sweep", "--clients", "1,4", "--stages", "1s:5 users"),
            "--clients and --stages both set the number of users",
        ),
        ((*LOAD, *STAGES, "--client", "ldap3"), "--client ldap3 has no --stages"),
        ((*LOAD, "--stages", "1s:0"), "every rate is 0"),
        ((*LOAD, "--stages", "1s:5 users"), "--users and --stages both set the number of users"),
        ((*LOAD, "--stages", "1s:5 users,1s:5"), "rates and users"),
        ((*LOAD, "--stages", "0s:5"), "shorter than 1 ms"),
        ((*LOAD, "--stages", "@nowhere.csv"), "cannot read the stages nowhere.csv"),
        ((*INTERLEAVED, "ils run lookup --target {} --stages 1s:5"), "has --stages"),
    ],
)
def test_options_that_exclude_stages_are_refused(
    argv: tuple[object, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "mix.toml").write_text(SCENARIO)
    ran = in_process(*argv, cwd=tmp_path).check(2, said)
    assert len(ran.err.strip().splitlines()) <= 2
    assert not ran.out


def test_compare_refuses_a_file_of_stages_at_its_first_run(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(SCENARIO)
    command = (*INTERLEAVED, "ils run mix.toml --entries 100 --locales en_US --threads {}")
    ran = in_process(*command, cwd=tmp_path).check(2, "the scenario file has stages")
    assert "2/10" not in ran.err


def test_compare_and_plan_refuse_runs_in_stages(tmp_path: Path) -> None:
    one, other = tmp_path / "a.sitebench", tmp_path / "b.sitebench"
    assert in_process(*EVEN, "--stages", "1s:200", "--out", one).code == 0
    shutil.copy(one, other)
    in_process("compare", one, other).check(2, "a.sitebench has points measured with --stages")


def test_run_file_without_stages_has_no_spans_to_export(tmp_path: Path) -> None:
    export = ("export", write_run(tmp_path / "without.sitebench"), "--what", "spans")
    assert in_process(*export).check(2, "has no point in stages").out == ""


def test_vary_refuses_stages_with_the_reason() -> None:
    assert "--stages" not in in_process("ils", "vary", "--help").out
    assert "--stages" in in_process("ils", "run", "--help").out


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[object, ...]]:
    """Two workers, which serve consecutive tests; return the options to measure with them."""
    where, folder = f"127.0.0.1:{free_port()}", tmp_path_factory.mktemp("workers")
    with forked_workers(folder, where, processes=2, threads=1):
        yield ("--workers", 2, "--bind", where)


def test_workers_share_stages_and_have_common_spans(workers: tuple[object, ...]) -> None:
    load = (*LOAD, "--arrivals", "even", "--stages", "2s:400,2s:0", "--json")
    (point,) = in_process(*load, *workers).objects
    assert [each["asked"] for each in point["spans"]] == [100, 300, 300, 100]
    for each in point["spans"]:
        # Each worker is off by at most one at each edge.
        assert each["operations"] == pytest.approx(each["asked"], abs=4), each
    assert sum(each["operations"] for each in point["spans"]) == 800


def test_workers_share_stages_of_users(tmp_path: Path, workers: tuple[object, ...]) -> None:
    _users_who_come_and_go(tmp_path, tmp_path / "users.sitebench", *workers)
