"""A small disk for a test that is soon full, and can be enlarged."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.groups import configure


@dataclass(frozen=True)
class Disk:
    """A disk in memory; `room` is in the syntax of mount(8), such as 2m."""

    path: Path

    def grow(self, room: str) -> None:
        configure("mount", "-o", f"remount,size={room}", str(self.path))


@contextlib.contextmanager
def small_disk(path: Path, room: str) -> Iterator[Disk]:
    path.mkdir()
    configure("mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        configure("umount", "--lazy", str(path))
