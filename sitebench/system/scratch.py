"""Temporary folders that are removed by their process, or by a later one if it was killed.

A process holds a lock on its folder, which the kernel releases when the process ends: a folder that
can be locked belongs to no running process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "sitebench-scratch-"


@contextlib.contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder, after removing those of dead processes."""
    parent = parent or Path(tempfile.gettempdir())
    for leftover in parent.glob(f"{_PREFIX}*"):
        if (lock := _lock(leftover)) is not None:
            shutil.rmtree(leftover, ignore_errors=True)
            os.close(lock)
    # Locked before it gets the name that other processes look for.
    unlocked = Path(tempfile.mkdtemp(prefix="sitebench-", dir=parent))
    try:
        lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        unlocked.rmdir()
        raise
    with contextlib.suppress(OSError):  # Without locks in a file system no folder is removed there.
        fcntl.flock(lock, fcntl.LOCK_EX)
    folder = unlocked.rename(unlocked.with_name(_PREFIX + unlocked.name.rpartition("-")[2]))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder of this user; return None if another process has the lock."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
