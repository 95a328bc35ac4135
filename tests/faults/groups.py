"""Control groups that limit processes: version 1 or 2, as this machine has them."""

import contextlib
import itertools
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.programs import required_program
from tests.support.waiting import eventually

PERIOD_US = 100_000
_numbers = itertools.count()


@dataclass(frozen=True)
class Group:
    path: Path

    def add(self, pid: int) -> None:
        """Add a process with all of its threads."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def write(self, name: str, value: str) -> None:
        (self.path / name).write_text(value)

    def remove(self) -> None:
        """Release the processes of the group, and remove it."""
        for pid in (self.path / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (self.path.parent / "cgroup.procs").write_text(pid)
        assert eventually(self._gone), f"{self.path} is still in use"

    def _gone(self) -> bool:
        with contextlib.suppress(OSError):
            self.path.rmdir()
        return not self.path.exists()


def unavailable(what: str) -> NoReturn:
    """Skip on a developer's machine, and fail if CI is set: see tests/support/programs.py."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def configure(program: str, *argv: str) -> None:
    """Change the machine's network or disks by a program, or skip the test."""
    command = [str(required_program(program)), *argv]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{' '.join(command)}: {done.stderr.strip()}")


@contextlib.contextmanager
def cpu_quota(cores: float) -> Iterator[Group]:
    """Create a group whose processes together get this much CPU in any tenth of a second."""
    with _group("cpu") as (version, group):
        quota = round(cores * PERIOD_US)
        if version == 1:
            group.write("cpu.cfs_period_us", str(PERIOD_US))
            group.write("cpu.cfs_quota_us", str(quota))
        else:
            group.write("cpu.max", f"{quota} {PERIOD_US}")
        yield group


@contextlib.contextmanager
def slow_writes(folder: Path, per_s: int) -> Iterator[Group]:
    """Create a group whose processes get this many writes a second to the disk under a folder."""
    device = _disk_under(folder)
    with _group("blkio", "io") as (version, group):
        if version == 1:
            limit, one, none = "blkio.throttle.write_iops_device", f"{per_s}", "0"
        else:
            limit, one, none = "io.max", f"wiops={per_s}", "wiops=max"
        group.write(limit, f"{device} {one}")
        try:
            yield group
        finally:
            # Waiting data is written now, because no process that waits for a disk can be ended.
            group.write(limit, f"{device} {none}")


@contextlib.contextmanager
def pressure_group() -> Iterator[Group]:
    """Create a version 2 group, whose pressure is available without a controller."""
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    parent = next((Path(place) for _, place, kind, *_ in mounts if kind == "cgroup2"), None)
    if parent is None or not (parent / "io.pressure").exists():
        unavailable("this machine has no control groups that know their pressure")
    with _group_in(parent) as group:
        yield group


@contextlib.contextmanager
def _group(old: str, new: str | None = None) -> Iterator[tuple[int, Group]]:
    version, parent = _parent(old, new or old)
    with _group_in(parent) as group:
        yield version, group


@contextlib.contextmanager
def _group_in(parent: Path) -> Iterator[Group]:
    group = Group(parent / f"sitebench-test-{os.getpid()}-{next(_numbers)}")
    try:
        group.path.mkdir()
    except OSError as error:
        unavailable(f"control groups of {parent} cannot be made: {error.strerror}")
    try:
        yield group
    finally:
        group.remove()


def _parent(old: str, new: str) -> tuple[int, Path]:
    """Return the parent of groups with this controller, and their version."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup" and old in options.split(","):
            return 1, Path(place)
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2" and new in (Path(place) / "cgroup.controllers").read_text().split():
            with contextlib.suppress(OSError):  # refused or already enabled: the file tells which
                (Path(place) / "cgroup.subtree_control").write_text(f"+{new}")
            if new in (Path(place) / "cgroup.subtree_control").read_text().split():
                return 2, Path(place)
    unavailable(f"this machine has no control groups with the {new} controller for us")


def _disk_under(folder: Path) -> str:
    """Return the whole disk that holds a folder, as control groups name it."""
    device = folder.stat().st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not place.exists():
        unavailable(f"{folder} is on no disk of its own (set TMPDIR to a folder that is)")
    if (place / "partition").exists():
        return (place.resolve().parent / "dev").read_text().strip()
    return f"{os.major(device)}:{os.minor(device)}"
