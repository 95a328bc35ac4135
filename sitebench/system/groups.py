"""Control groups of version 1 or 2, which limit the memory and disk of processes."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sitebench.errors import NotPossible

_REMEDY = "run it as root, where control groups can be written"
_EMPTY_S = 5.0
_numbers = itertools.count()


class Group(msgspec.Struct, frozen=True):
    """A control group; `procs` is the file that takes the ids of processes."""

    path: Path
    version: int

    @property
    def procs(self) -> Path:
        return self.path / "cgroup.procs"

    def write(self, name: str, value: str) -> None:
        try:
            (self.path / name).write_text(value)
        except OSError as error:
            raise NotPossible(
                f"{name} of the control group {self.path} cannot be set to {value!r}: "
                f"{error.strerror}",
                _REMEDY,
            ) from error


@contextlib.contextmanager
def memory(max_bytes: int) -> Iterator[Group]:
    """Make a group that limits the memory of its processes together, including cached files."""
    with _group("memory", "memory") as group:
        group.write("memory.limit_in_bytes" if group.version == 1 else "memory.max", str(max_bytes))
        yield group


@contextlib.contextmanager
def disk(bytes_per_s: int, folder: Path) -> Iterator[Group]:
    """Make a group that limits how fast its processes read and write the disk of a folder."""
    device = _disk_under(folder)
    with _group("blkio", "io") as group:
        if group.version == 1:
            group.write("blkio.throttle.read_bps_device", f"{device} {bytes_per_s}")
            group.write("blkio.throttle.write_bps_device", f"{device} {bytes_per_s}")
        else:
            group.write("io.max", f"{device} rbps={bytes_per_s} wbps={bytes_per_s}")
        yield group


@contextlib.contextmanager
def _group(old: str, new: str) -> Iterator[Group]:
    version, parent = _parent(old, new)
    group = Group(parent / f"sitebench-{os.getpid()}-{next(_numbers)}", version)
    try:
        group.path.mkdir()
    except OSError as error:
        message = f"control groups of {parent} cannot be made: {error.strerror}"
        raise NotPossible(message, _REMEDY) from error
    try:
        yield group
    finally:
        give_up = time.monotonic() + _EMPTY_S
        while group.path.exists() and time.monotonic() < give_up:
            with contextlib.suppress(OSError):  # An ended process stays in its group for a moment.
                group.path.rmdir()
                break
            time.sleep(0.02)


def _parent(old: str, new: str) -> tuple[int, Path]:
    """Return the version of control groups with the controller, and the folder for new groups."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for _, place, kind, options, *_ in mounts:
        if kind == "cgroup" and old in options.split(","):
            return 1, Path(place)
    for _, place, kind, *_ in mounts:
        if kind == "cgroup2" and new in (Path(place) / "cgroup.controllers").read_text().split():
            subtree = Path(place) / "cgroup.subtree_control"
            with contextlib.suppress(OSError):  # The controller may be enabled already.
                subtree.write_text(f"+{new}")
            if new in subtree.read_text().split():
                return 2, Path(place)
    raise NotPossible(f"this machine has no control groups with the {new} controller", _REMEDY)


def _disk_under(folder: Path) -> str:
    """Return the device number of the whole disk of a folder, even if the folder does not exist."""
    ancestor = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    device = ancestor.stat().st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not place.exists():
        raise NotPossible(
            f"{folder} is not on a disk of its own (but on a file system in memory, or an overlay)",
            "put the files into a folder on a disk",
        )
    if (place / "partition").exists():
        return (place.resolve().parent / "dev").read_text().strip()
    return f"{os.major(device)}:{os.minor(device)}"
