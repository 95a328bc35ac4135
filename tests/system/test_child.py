import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sitebench.errors import MeasurementFailed, PortInUse, SitebenchError
from sitebench.system.child import Child, dump, revive
from tests.support.programs import printing
from tests.support.waiting import eventually

ROOT = str(Path(__file__).parents[2])
ECHO = """
import os, time
from sitebench.system.child import Service, serve
from sitebench.errors import PortInUse
def start(request):
    if "slow" in request:
        try:
            open(request["begun"], "w").close()
            time.sleep(60)
        finally:
            open(request["leaves"], "w").close()
    if "refuse" in request:
        raise PortInUse("it is taken", "choose another")
    asked = iter(range(10))
    def tell():
        while not os.path.exists(request.get("until", "/")):
            time.sleep(0.01)
        return {"asked": next(asked)}
    return Service({"heard": request}, lambda: open(request["leaves"], "w").close(), tell)
if __name__ == "__main__":
    serve(start)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "echo_child.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    return "echo_child"


@contextlib.contextmanager
def running(module: str, folder: Path, **request: str) -> Iterator[Child]:
    child = Child(module, {"leaves": str(folder / "left"), **request})
    try:
        yield child
    finally:
        child.stop()


def gone(pid: int) -> bool:
    def ended() -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        return True

    return eventually(ended)


def test_child_answers_once_and_ends_cleanly(module: str, tmp_path: Path) -> None:
    left = tmp_path / "left"
    child = Child(module, {"leaves": str(left)})
    assert child.ready == {"heard": {"leaves": str(left)}}
    child.stop()
    assert gone(child.pid)
    assert left.exists()


def test_error_of_a_child_is_raised_in_the_parent(module: str) -> None:
    with pytest.raises(PortInUse, match="it is taken; choose another"):
        Child(module, {"refuse": True})


def test_child_that_cannot_start_is_an_error_and_no_hang() -> None:
    with pytest.raises(MeasurementFailed, match="ended before it answered"):
        Child("sitebench.no_such_module", {})


def test_child_ends_with_its_parent_however_the_parent_ends(module: str, tmp_path: Path) -> None:
    code = (
        "from sitebench.system.child import Child; import time;"
        f"print(Child({module!r}, {{'leaves': {str(tmp_path / 'left')!r}}}).pid, flush=True);"
        "time.sleep(60)"
    )
    parent, line = printing(code)
    with parent:
        pid = int(line)
        assert psutil.pid_exists(pid)
        parent.kill()
    assert gone(pid)
    assert (tmp_path / "left").exists()


def test_child_answers_every_request(module: str, tmp_path: Path) -> None:
    with running(module, tmp_path) as child:
        assert [child.ask() for _ in range(3)] == [{"asked": 0}, {"asked": 1}, {"asked": 2}]


def test_late_answer_of_a_child_is_discarded(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = tmp_path / "until"
    with running(module, tmp_path, until=str(until)) as child:
        with monkeypatch.context() as patience:
            patience.setattr("sitebench.system.child.ANSWER_S", 0.05)
            for _ in range(2):
                with pytest.raises(MeasurementFailed, match="did not answer within"):
                    child.ask()
        until.touch()
        assert [child.ask() for _ in range(2)] == [{"asked": 2}, {"asked": 3}]


def test_child_that_fails_to_answer_ends(module: str, tmp_path: Path) -> None:
    ended = pytest.raises(MeasurementFailed, match="ended before it answered")
    with running(module, tmp_path) as child, ended:
        [child.ask() for _ in range(11)]


def test_errors_survive_serialisation_between_processes() -> None:
    error: SitebenchError = PortInUse("it is taken", "choose another")
    again = revive(dump(error))
    assert (type(again), again.message, again.remedy) == (PortInUse, error.message, error.remedy)


@pytest.mark.parametrize("kind", ["annotations", "NoReturn", "sys", "exit_with", "__doc__", "Nil"])
def test_unknown_kind_of_error_is_a_failure(kind: str) -> None:
    again = revive({"kind": kind, "message": "it is taken", "remedy": "choose another"})
    assert (type(again), again.message) == (MeasurementFailed, "it is taken")


def test_child_cleans_up_if_its_parent_dies_during_the_start(module: str, tmp_path: Path) -> None:
    begun, left = tmp_path / "begun", tmp_path / "left"
    request = {"slow": True, "begun": str(begun), "leaves": str(left)}
    code = f"from sitebench.system.child import Child; Child({module!r}, {request!r})"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        assert eventually(begun.exists)
        (child,) = psutil.Process(parent.pid).children()
        parent.kill()
    assert gone(child.pid)
    assert left.exists()
