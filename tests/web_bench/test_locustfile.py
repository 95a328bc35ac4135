"""The suite's locustfile, with one user class for each workload."""

from pathlib import Path

from tests.support.cli import Ran
from tests.support.locusts import run_locust

WEB = str(Path(__file__).parents[2] / "locustfiles" / "web.py")


def headless(folder: Path, *more: str, forked: bool = True) -> Ran:
    short = ("--headless", "-u", "2", "-r", "2", "--rate", "200", "--only-summary")
    window = ("--warmup", "0s", "--measure", "500ms")
    return run_locust("-f", WEB, *short, *window, *more, cwd=folder, forked=forked)


def test_first_workload_runs_if_no_class_is_named(tmp_path: Path) -> None:
    """All classes would run at the same time, each with its own files."""
    ran = headless(tmp_path, "--target-threads", "1", "--threads", "1", forked=False).check(
        0, "WebBench1StaticUser runs, as no user class was named"
    )
    assert "webbench1-static 2k" in ran.out + ran.err
    assert "spice" not in ran.out + ran.err


def test_path_option_selects_the_user_class_of_paths(tmp_path: Path) -> None:
    ran = headless(tmp_path, "--path", "/nothing", "--target", "http://127.0.0.1:9")
    ran.check(1, "FileUser runs")
