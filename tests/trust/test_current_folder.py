"""Commands that are given in a folder of somebody else: nothing of it is run or read."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sitebench.system.network import free_port
from tests.support.waiting import left_s

SITEBENCH = Path(sys.executable).with_name("sitebench")
MODULES = ("locust", "sitebench", "ils_bench", "psutil", "msgspec", "json", "flask")
FEW = ("--entries", "10", "--locales", "en_US")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules that leave a file and break, and options for Locust that write one."""
    found = tmp_path / "of a stranger"
    found.mkdir()
    harm = f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit('harm')\n"
    for name in MODULES:
        (found / f"{name}.py").write_text(harm)
        (found / name).mkdir()
        (found / name / "__init__.py").write_text(harm)
    written = tmp_path / "written"
    (found / "locust.conf").write_text(f"logfile = {written}\nhtml = {written}\n")
    (found / "pyproject.toml").write_text(f'[tool.locust]\ncsv = "{written}"\n')
    return found


def untouched(folder: Path) -> bool:
    return [each.name for each in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize(
    "command",
    [
        ("ils", "run", "lookup", "--target", "embedded"),
        ("ps", "run", "page"),
    ],
)
def test_nothing_of_it_runs(command: tuple[str, ...], folder: Path) -> None:
    brief = ("--users", "1", "--rate", "100", "--warmup", "0s", "--measure", "500ms", "--json")
    done = subprocess.run(
        [SITEBENCH, *command, *FEW, *brief], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["operations"] > 0
    assert untouched(folder)


def test_nothing_of_it_runs_in_the_web_ui(folder: Path) -> None:
    with subprocess.Popen(
        [SITEBENCH, "ils", "ui", "--no-browser", "--web-port", str(free_port()), *FEW],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=left_s())
    assert said.startswith("web UI: "), said
    assert untouched(folder)
