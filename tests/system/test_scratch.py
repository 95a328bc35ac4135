"""Temporary folders: removed with their process, or by the next process after a kill."""

import signal
import subprocess
from pathlib import Path

import pytest

from sitebench.system.scratch import scratch
from tests.support.programs import printing

HOLD = """
import sys
from sitebench.system.scratch import scratch
with scratch() as folder:
    (folder / "run").write_text("half")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate folder for the temporary files of these tests."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def holder() -> tuple[subprocess.Popen[str], Path]:
    process, line = printing(HOLD)
    return process, Path(line)


def test_folder_is_removed_at_the_end_of_its_context(place: Path) -> None:
    with scratch() as folder:
        (folder / "run").write_text("x")
        assert folder.parent == place
        assert folder.stat().st_mode & 0o077 == 0
    assert list(place.iterdir()) == []


def test_folder_of_a_killed_process_is_removed_and_other_folders_stay(place: Path) -> None:
    living, kept = holder()
    killed, left = holder()
    with living, killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert (left / "run").exists()
        with scratch() as folder:
            assert set(place.iterdir()) == {folder, kept}
            assert (kept / "run").read_text() == "half"
        living.communicate()
    assert list(place.iterdir()) == []


def test_foreign_folders_and_files_are_not_removed(place: Path) -> None:
    (place / "elsewhere").mkdir()
    (place / "sitebench-scratch-link").symlink_to(place / "elsewhere")
    (place / "sitebench-scratch-file").write_text("x")
    before = set(place.iterdir())
    with scratch():
        pass
    assert set(place.iterdir()) == before
