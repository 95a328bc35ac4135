"""Files that are there whole or not at all: what fails half-way leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sitebench.errors import BadFile
from sitebench.system.scratch import scratch

WRITABLE = "name a file in a folder that exists and that you may write, with enough room"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a place beside `path`; what is written there becomes `path` when all went well.

    A link stays one: what it leads to is replaced, or made. A pipe or a device is written as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    # Unlike Path.resolve it has an answer for links that lead in a circle, too.
    target = Path(os.path.realpath(path))
    with scratch(target.parent) as folder:
        fresh = folder / target.name
        yield fresh
        if target.exists():
            shutil.copymode(target, fresh)
        fresh.replace(target)


def write(path: Path, content: str | bytes) -> None:
    """Write a file."""
    try:
        with whole(path) as fresh:
            fresh.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path | str, error: OSError) -> BadFile:
    """Return the error of a file that cannot be had."""
    return BadFile(f"cannot write {path}: {error.strerror}", WRITABLE)
