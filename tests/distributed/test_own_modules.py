"""A master's locustfile that imports its own modules, which no message sends to a worker."""

from pathlib import Path

import pytest

from sitebench.system.network import free_port
from tests.distributed import masters
from tests.support.cli import Ran
from tests.support.locusts import run_locust

LOCUSTFILE = "import ours\nfrom ils_bench.locustfile import LookupUser\n"
SHADOWS = ("locust", "gevent", "msgspec", "sitebench", "ils_bench", "json")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Return the master's folder with the module, and the worker's without it."""
    master, worker = tmp_path / "master", tmp_path / "worker"
    for each in (master, worker):
        each.mkdir()
    (master / "lf.py").write_text(LOCUSTFILE)
    (master / "ours.py").write_text("")
    return master, worker


def run(master: Path, worker: Path, *, wait_s: int) -> tuple[Ran, str]:
    """Run a short test with one worker; return the master's end and the worker's output."""
    port, folder = str(free_port()), worker.parent
    with masters.worker(folder, f"127.0.0.1:{port}", None, cwd=worker) as waiting:
        done = run_locust(
            *("-f", "lf.py", "--master", "--headless"),
            *("--master-bind-port", port, "-u", "2", "-r", "2"),
            *("--warmup", "0s", "--measure", "500ms"),
            *("--expect-workers", "1", "--expect-workers-max-wait", str(wait_s)),
            *("--entries", "10", "--locales", "en_US", "--loglevel", "WARNING"),
            cwd=master,
            env={"TMPDIR": str(folder)},
        )
        return done, waiting.end()


def test_modules_of_the_locustfile_are_last_in_the_workers_path(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    master, worker = folders
    (worker / "ours.py").write_text("")
    for name in SHADOWS:
        (worker / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    done, said = run(master, worker, wait_s=30)
    assert done.code == 0, done.err + said
    assert not (tmp_path / "ran").exists()
    assert "Traceback" not in said


def test_missing_module_is_reported_once_and_to_the_master(folders: tuple[Path, Path]) -> None:
    found = "the master's locustfile cannot be imported here: No module named 'ours'; "
    for wait_s in (8, 32):
        done, said = run(*folders, wait_s=wait_s)
        assert done.code != 0
        if found in said + done.err:
            break  # on a busy machine the worker begins late
    assert said.count(found + "start this worker in a folder with its modules") == 1, said
    assert done.err.count(found) == 1, done.err
    assert "Traceback" not in said + done.err
