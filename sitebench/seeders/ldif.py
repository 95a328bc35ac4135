"""LDIF of a population, for directories that load files faster than they take requests."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from sitebench._engine import Population
from sitebench.errors import BadInput
from sitebench.system.native_errors import translated

_PEOPLE_PER_PIECE = 2_000
"""A piece of some 3 MB: Python's overhead is negligible, and the piece fits into the CPU cache."""


def pieces(
    population: Population, start: int, stop: int, *, containers: bool = True
) -> Iterator[tuple[int, bytes]]:
    """Yield pieces with the number of people so far; a thread makes the next piece meanwhile."""
    from concurrent.futures import ThreadPoolExecutor

    def make(begin: int) -> tuple[int, bytes]:
        end = min(begin + _PEOPLE_PER_PIECE, stop)
        with translated():
            first = containers and begin == start
            return end, population.ldif(begin, end, with_containers=first)

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(make, start)
        while True:
            end, piece = following.result()
            if end < stop:
                following = pool.submit(make, end)
            yield end, piece
            if end >= stop:
                return


def write_ldif(
    population: Population,
    path: Path,
    progress: Callable[[int], object] = lambda written: None,
    more: Iterable[bytes] = (),
) -> int:
    """Write the base DN, the people and `more` to `path`; return the size of the file.

    `progress` is called with the number of people written. The file appears when it is complete,
    because half a file would load without an error. An interruption leaves `PATH.part`, whose
    correct beginning the next call keeps.
    """
    with complete_or_resumable(path) as file:
        going_on = True
        following = ((population.size, piece) for piece in more)
        for people, piece in chain(pieces(population, 0, population.size), following):
            position = file.tell()
            if going_on and file.read(len(piece)) != piece:
                going_on = False
                file.seek(position)
            if not going_on:
                file.write(piece)
            progress(people)
        return file.truncate()


@contextmanager
def complete_or_resumable(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that becomes `path` on success, and that can be continued after an error."""
    part = path.with_name(f"{path.name}.part")
    if path.is_dir():
        raise _cannot_write(path, "it is a directory")
    try:
        with open(part, "ab", opener=_open_own), open(part, "r+b", opener=_open_own) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with _gone_if_empty(part, file):
                yield file
                file.flush()
                part.replace(path)
    except BlockingIOError:
        raise BadInput(
            f"another program is writing {path}", "wait for it, or name another file"
        ) from None
    except OSError as error:
        raise _cannot_write(path, error.strerror) from error


def _open_own(path: str, flags: int) -> int:
    """Open a file of this user; refuse a link and a file that another user made in the folder."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o666)
    if os.fstat(descriptor).st_uid != os.geteuid():
        os.close(descriptor)
        raise OSError(errno.EPERM, f"{path} belongs to another user")
    return descriptor


@contextmanager
def _gone_if_empty(part: Path, file: BinaryIO) -> Iterator[None]:
    """Remove an empty file after an error, while this process still has the file's lock."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            file.flush()
        if os.fstat(file.fileno()).st_size == 0:
            part.unlink(missing_ok=True)
        raise


def _cannot_write(path: Path, reason: str | None) -> BadInput:
    return BadInput(
        f"cannot write {path}: {reason}", "choose a writable place with enough free space"
    )
