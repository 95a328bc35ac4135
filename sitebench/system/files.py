"""Files: atomic writes, which do not change a file if they fail, and processes that lock files."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sitebench.errors import BadFile, BadInput
from sitebench.system.scratch import scratch


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a path for a file that replaces `path` at the end.

    The target of a symbolic link is replaced. A pipe or a device is written directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    # Unlike Path.resolve, realpath does not raise on a loop of symbolic links.
    target = Path(os.path.realpath(path))
    with scratch(target.parent) as folder:
        fresh = folder / target.name
        yield fresh
        if target.exists():
            shutil.copymode(target, fresh)
        fresh.replace(target)


def write(path: Path, content: str | bytes) -> None:
    try:
        with atomic_write(path) as fresh:
            fresh.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise cannot_write(path, error) from error


def lock_holder(descriptor: int) -> int | None:
    """Return the process that holds a flock(2) of an open file, if /proc/locks shows it."""
    status = os.fstat(descriptor)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            # A lock is `1: FLOCK ADVISORY WRITE 20934 fe:00:6138242 0 EOF`. The line of a process
            # that waits for the lock has `->` before FLOCK.
            _, kind, _, _, *rest = line.split()
            if kind == "FLOCK" and rest[1] == f"{device}:{status.st_ino}":
                return int(rest[0])
    return None


def refuse_existing(path: Path) -> None:
    if path.is_file():
        raise BadInput(f"{path} exists already", "remove it, or name another file")


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"cannot make folder {path}: {error.strerror}", "name a writable folder"
        ) from error


def cannot_write(path: Path | str, error: OSError) -> BadFile:
    return BadFile(
        f"cannot write {path}: {error.strerror}",
        "name a file in a writable folder with enough free space",
    )
