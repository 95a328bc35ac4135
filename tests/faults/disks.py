"""A small disk for a test that is soon full, and can be enlarged."""

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.groups import unavailable
from tests.support.programs import required_program


@dataclass(frozen=True)
class Disk:
    """A disk in memory; `room` is in the syntax of mount(8), such as 2m."""

    path: Path

    def grow(self, room: str) -> None:
        _do("mount", "-o", f"remount,size={room}", str(self.path))


@contextlib.contextmanager
def small_disk(path: Path, room: str) -> Iterator[Disk]:
    path.mkdir()
    _do("mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        _do("umount", "--lazy", str(path))


def _do(program: str, *argv: str) -> None:
    done = subprocess.run(
        [str(required_program(program)), *argv], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        unavailable(f"{program} {' '.join(argv)}: {done.stderr.strip()}")
