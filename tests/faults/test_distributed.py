"""Killed masters, and workers at their limit of open files, with real workers."""

from pathlib import Path

from sitebench.system.network import free_port
from tests.distributed.masters import worker
from tests.faults.served import LANES, LOCALES, PEOPLE, RATE, Served
from tests.support.aftermath import Ground
from tests.support.killing import killed
from tests.support.programs import required_program
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import web_ui


def test_killed_master_loses_only_its_current_point(
    ground: Ground, directory: Served, tmp_path: Path
) -> None:
    where = f"127.0.0.1:{free_port()}"
    (tmp_path / "worker").mkdir()
    load = (*directory.run(), *RATE, "--workers", "1", "--bind", where, "--warmup", "0s")
    with worker(tmp_path / "worker", where, None) as one:
        out = ("--measure", "60s", "--out", str(ground.run))
        with ground.started(*load, *out) as process:
            assert eventually(lambda: "measure" in ground.phases())
            killed(process)
        assert eventually(lambda: not ground.processes())
        ground.assert_whole()
        ground.run.unlink()
        # The worker waits for the next master as before.
        point = ground.point(*load, "--measure", "2s")
        assert point["operations"] > LANES
        assert [each["ended"] for each in point["workers"]] == [None]
        assert "Traceback" not in one.end()
    assert not list((tmp_path / "worker").glob("sitebench-*"))


def test_worker_at_its_limit_of_open_files_is_reported(
    ground: Ground, directory: Served, tmp_path: Path
) -> None:
    where = f"127.0.0.1:{free_port()}"
    (tmp_path / "worker").mkdir()
    few = (str(required_program("prlimit")), "--nofile=150:150")
    load = (*directory.run(), "--users", "300", "--workers", "1", "--bind", where)
    with worker(tmp_path / "worker", where, None, before=few):
        ran = ground.ran(*load, "--measure", "2s", "--out", str(ground.run))
    assert ran.code == 1
    what, remedy = ran.err.strip().splitlines()[-2:]
    assert "worker" in what
    assert "this process may not open more files" in what
    assert "ulimit -n" in remedy


# A web UI at its limit of open files: a test that is too large fails, and the next test runs.

NO_FILES = "this process may not open more files; raise `ulimit -n`, or use fewer users"


def test_web_ui_reports_lack_of_descriptors_and_runs_the_next_test(ground: Ground) -> None:
    few = (str(required_program("prlimit")), "--nofile=150:150")
    who = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES), "--threads", "1")
    output: list[str] = []
    there = ground.environment
    ui = web_ui(ground.folder, "ils", *who, output=output, before=few, forked=False, **there)
    with ui as (_, root):
        screen = Screen(root)
        screen.start("LookupUser", users=300)
        screen.wait(lambda stats: stats["state"] == "stopped")
        assert NO_FILES in screen.get("/sitebench/live.json")
        screen.run("LookupUser", "lookup", 100, LANES)
    (words,) = output
    assert NO_FILES in words
    assert "Traceback" not in words
