"""kill -9 at ten random times of a sweep: no finished point is lost, no process remains."""

import contextlib
import json
import random
import subprocess
import time
from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.system.network import free_port
from tests.support.aftermath import Ground, Points
from tests.support.children import children
from tests.support.programs import required_program
from tests.support.waiting import eventually
from tests.support.workers import forked_workers

KILLS = 10
SIZES = (20, 30, 40)
OPERATIONS = ("lookup", "connect")
SWEEP = (
    *("ils", "sweep", "--sizes", ",".join(map(str, SIZES)), "--operations", ",".join(OPERATIONS)),
    *("--locales", "en_US", "--users", "2", "--threads", "1"),
    *("--rate", "100", "--warmup", "100ms", "--measure", "200ms", "--json"),
)


class Killed(Ground):
    """Killed sweeps that share a run file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        # A killed sweep leaves an incomplete file there, which the next sweep continues.
        self.environment["XDG_CACHE_HOME"] = str(folder / "cache")

    def wait_for_one_more(self, known: Points, process: subprocess.Popen[str]) -> None:
        """Wait until another point is finished, or none is left."""
        give_up = time.monotonic() + 200
        while len(self.done()) <= len(known) and process.poll() is None:
            assert time.monotonic() < give_up
            time.sleep(0.1)
        assert not process.poll(), process.communicate()


@pytest.mark.timeout(600)
def test_points_survive_kill_9_and_the_sweep_is_resumed(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, sweep = random.Random(seed), Killed(tmp_path)
    finished: Points = {}
    for kill in range(KILLS):
        # Every third sweep is killed only after it has finished a point, so that a point could be
        # lost.
        with sweep.started(*SWEEP, "--out", str(sweep.run)) as process:
            if kill % 3 == 2:
                sweep.wait_for_one_more(finished, process)
            time.sleep(chance.uniform(0, 2))
            process.kill()
        now = sweep.done()
        assert {key: now.get(key) for key in finished} == finished
        finished = now
        print(f"kill {kill + 1}: {len(finished)} points are done")
        if sweep.run.exists() and chance.random() < 0.5:
            sweep.assert_whole()
    assert finished
    with sweep.started("resume", str(sweep.run)) as process:
        out, said = process.communicate()
        assert process.returncode == 0, said
    points = [json.loads(line) for line in out.splitlines()]
    assert len(points) == len(SIZES) * len(OPERATIONS)
    assert sum(point["resumed"] for point in points) == len(finished)
    now = sweep.done()
    assert len(now) == len(points)
    assert {key: now[key] for key in finished} == finished
    sweep.assert_whole()
    sweep.assert_over()
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [sweep.run.name]


PHASES = ("begins", "warmup", "measure")


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("killed", ["command", "runner", "master", "worker"])
def test_kill_loses_only_the_current_point(tmp_path: Path, killed: str, phase: str) -> None:
    sweep, where = Killed(tmp_path), f"127.0.0.1:{free_port()}"
    load = ("--locales", "en_US", "--users", "2", "--threads", "1", "--rate", "100")
    window = ("--warmup", "1s", "--measure", "1s", "--sizes", "20", "--json")
    argv = ["ils", "sweep", *load, *window, "--operations", "lookup,connect"]
    with contextlib.ExitStack() as stack:
        if killed in ("master", "worker"):
            argv += ["--workers", "1", "--bind", where]
            (tmp_path / "worker").mkdir()
            workers = stack.enter_context(forked_workers(tmp_path / "worker", where, threads=1))
        process = stack.enter_context(sweep.started(*argv, "--out", str(sweep.run)))
        sweep.wait_for_one_more({}, process)
        finished = sweep.done()

        def reached() -> bool:
            runners = children(process.pid, "sitebench.locust.runner")
            second = [row for row in sweep.timeline() if row.point == 2]
            return bool(runners) and (phase == "begins" or phase in {row.phase for row in second})

        assert eventually(reached)
        if killed == "command":
            process.kill()
        elif killed == "worker":
            workers.started[-1].kill()
        else:
            [runner] = children(process.pid, "sitebench.locust.runner")
            runner.kill()
        _, errors = process.communicate()
        assert "Traceback" not in errors
        if killed in ("runner", "master"):
            assert process.returncode == 1
            assert "ended without a result (exit code -9)" in errors
        assert eventually(lambda: not sweep.processes()), sweep.processes()
        now = sweep.done()
        assert {key: now.get(key) for key in finished} == finished
        resumed = sweep.ran("resume", str(sweep.run)).check(0)
        assert resumed.objects[0]["resumed"]
        assert len(sweep.done()) == 2
        if killed == "master":
            # The worker waits for the next master as before.
            assert [each["ended"] for each in resumed.objects[1]["workers"]] == [None]
            assert "Traceback" not in (tmp_path / "worker" / "workers.log").read_text()
    sweep.assert_whole()
    sweep.assert_over()


@pytest.mark.parametrize("suite", ["ils", "ps"])
def test_neither_load_nor_target_outlives_a_killed_sweep(tmp_path: Path, suite: str) -> None:
    sweep = Killed(tmp_path)
    operation = ("--operations", "lookup") if suite == "ils" else ()
    load = ("--locales", "en_US", "--users", "2", "--rate", "100")
    long = ("--warmup", "0s", "--measure", "10m", "--out", str(sweep.run))
    argv = (suite, "sweep", "--sizes", "20", *operation, *load, *long)
    with sweep.started(*argv):
        assert eventually(lambda: "measure" in sweep.phases())
        began = {each.partition("-m ")[2].split()[0] for each in sweep.processes()}
        modules = ("sitebench.cli.main", "sitebench.locust.runner")
        assert began == {*modules, f"{suite}_bench.targets.embedded"}
    sweep.assert_over()
    with RunFile(sweep.run) as run:
        (point,) = run.points()
        assert point.status == "failed"
        assert point.error is not None
        assert "the sweep that started this point has ended" in point.error["message"]


def test_lack_of_space_for_the_run_file_is_reported_and_the_sweep_resumed(tmp_path: Path) -> None:
    sweep = Killed(tmp_path)
    load = ("--locales", "en_US", "--users", "2", "--rate", "100")
    short = ("--warmup", "100ms", "--measure", "300ms", "--json", "--out", str(sweep.run))
    argv = ("ils", "sweep", "--sizes", "20", *load, *short)
    assert sweep.here(*argv, "--operations", "lookup").code == 0
    finished = sweep.done()
    assert len(finished) == 1
    narrow = (str(required_program("prlimit")), "--fsize=60000:60000")
    ran = sweep.ran(*argv, "--operations", "lookup,connect", before=narrow).check(1)
    *_, first, remedy = ran.err.splitlines()
    assert first == f"sitebench: cannot write run file {sweep.run}: disk I/O error"
    assert "check the disk of this file" in remedy
    sweep.assert_over()
    assert {key: sweep.done()[key] for key in finished} == finished
    completed = sweep.ran("resume", str(sweep.run)).check(0)
    assert [point["resumed"] for point in completed.objects] == [True, False]
    sweep.assert_clean()
