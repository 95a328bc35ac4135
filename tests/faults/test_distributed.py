"""Workers and a web UI at their limit of open files."""

from pathlib import Path

from sitebench.system.network import free_port
from tests.distributed.masters import worker
from tests.faults.served import LANES, LOCALES, PEOPLE, Served
from tests.support.aftermath import Ground
from tests.support.programs import required_program
from tests.support.screen import Screen
from tests.support.web_page import web_ui


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
