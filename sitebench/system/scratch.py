"""Temporary folders that are removed with their process, or by the next one if it was killed.

They lie in the folder for temporary files, or beside the file that is made in them.

The process that makes one holds a lock on it. The kernel releases a lock when its process ends,
however it ends: a folder that can be locked belongs to no running process.
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
    # Locked before it has the name by which others find it.
    unlocked = Path(tempfile.mkdtemp(prefix="sitebench-", dir=parent))
    try:
        lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        unlocked.rmdir()
        raise
    with contextlib.suppress(OSError):  # On a file system without locks no other process has one.
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
