"""Files that are there whole or not at all: what fails half-way leaves what was there before."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sitebench.errors import BadFile

WRITABLE = "name a file in a folder that exists and that you may write, with enough room"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a place beside `path`; what is written there becomes `path` when all went well.

    A link stays one: what it leads to is replaced. A pipe or a device is written as it is.
    """
    target = path.resolve() if path.is_file() else path
    if target.exists() and not target.is_file():
        yield target
        return
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        fresh = Path(folder) / target.name
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
