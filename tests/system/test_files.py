"""Files exist completely or not at all, at the place to which their name leads."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from sitebench.system.files import atomic_write, write
from tests.support.programs import printing

HOLD = """
import sys
from pathlib import Path
from sitebench.system.files import atomic_write
with atomic_write(Path(sys.argv[1])) as fresh:
    fresh.write_text("half")
    print("written", flush=True)
    sys.stdin.read()
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """Return a process in the middle of writing."""
    process, line = printing(HOLD, str(path))
    assert line == "written"
    return process


def test_files_of_killed_writers_are_removed_and_of_living_writers_kept(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(path, "old")
    with writer(path) as killed:
        killed.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    with writer(path) as living:
        write(path, "new")
        assert path.read_text() == "new"
        assert len(list(tmp_path.iterdir())) == 2
        living.communicate()
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(path, "old")

    def fail() -> None:
        with atomic_write(path) as fresh:
            fresh.write_text("half")
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("there", [True, False])
def test_symbolic_link_is_kept_with_or_without_its_target(there: bool, tmp_path: Path) -> None:
    goal, link = tmp_path / "elsewhere" / "goal", tmp_path / "link"
    goal.parent.mkdir()
    link.symlink_to("elsewhere/goal")
    if there:
        goal.write_text("old")
    write(link, "new")
    assert link.readlink() == Path("elsewhere/goal")
    assert goal.read_text() == "new"
    assert list(goal.parent.iterdir()) == [goal]


def test_circular_links_are_replaced_by_a_file(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    write(one, "new")
    assert one.read_text() == "new"


def test_written_file_keeps_permissions_or_gets_those_of_a_new_file(tmp_path: Path) -> None:
    path, plain = tmp_path / "report.html", tmp_path / "plain"
    plain.touch()
    write(path, "old")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o604)
    write(path, "new")
    assert path.stat().st_mode & 0o777 == 0o604


def test_output_to_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, "through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    assert pipe.is_fifo()
