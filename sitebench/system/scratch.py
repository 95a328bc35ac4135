"""Temporary folders. If their process was killed, a later process removes them.

A process holds a lock on its folder, which the kernel releases when the process ends. So a folder
that can be locked belongs to no running process.
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
    """Yield an empty folder; the folders of dead processes are removed."""
    parent = parent or Path(tempfile.gettempdir())
    for leftover in parent.glob(f"{_PREFIX}*"):
        if (lock := _lock(leftover)) is not None:
            shutil.rmtree(leftover, ignore_errors=True)
            os.close(lock)
    # The folder is locked before it gets the name that other processes search for.
    unlocked = Path(tempfile.mkdtemp(prefix="sitebench-", dir=parent))
    try:
        lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        unlocked.rmdir()
        raise
    with contextlib.suppress(OSError):  # In a file system without locks no folder is removed.
        fcntl.flock(lock, fcntl.LOCK_EX)
    folder = unlocked.rename(unlocked.with_name(_PREFIX + unlocked.name.rpartition("-")[2]))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder of this user, and return its descriptor; None if it is locked already."""
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
