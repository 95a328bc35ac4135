"""Temporary folders that go away with their process, and with the next one where it was killed.

They lie among the machine's temporary files, or beside what is made in them.

Whoever makes one keeps it locked. The kernel lets go of a lock when its process ends, however that
was: a folder that can be locked is nobody's any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "sitebench-scratch-"


@contextlib.contextmanager
def scratch(where: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder; before it is made, those of dead processes are removed there."""
    where = where or Path(tempfile.gettempdir())
    _clear(where)
    # Locked before it has the name by which others find it.
    unlocked = Path(tempfile.mkdtemp(prefix="sitebench-", dir=where))
    try:
        lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        unlocked.rmdir()
        raise
    with contextlib.suppress(OSError):  # Where there are no locks, nobody else can have one.
        fcntl.flock(lock, fcntl.LOCK_EX)
    folder = unlocked.rename(unlocked.with_name(PREFIX + unlocked.name.rpartition("-")[2]))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _clear(where: Path) -> None:
    for each in where.glob(f"{PREFIX}*"):
        lock = _locked(each)
        if lock is not None:
            shutil.rmtree(each, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder of this user's, or return None where that cannot be done now."""
    try:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(found).st_uid == os.geteuid():
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return found
    except OSError:
        pass
    os.close(found)
    return None
