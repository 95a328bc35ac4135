"""Small files of the kernel, read whole with as few calls as there can be."""

from __future__ import annotations

import os

_ENOUGH = 1 << 16


def read(path: str) -> str | None:
    """Return a file's text, or None where it is not there, or not for us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        # A short read is not the end: the kernel hands out lists a page at a time.
        while part := os.read(descriptor, _ENOUGH):
            parts.append(part)
        return b"".join(parts).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def names(path: str) -> list[str]:
    """Return what a folder holds; nothing where it is not there."""
    try:
        return os.listdir(path)  # noqa: PTH208 (a call a second, and Path costs five times more)
    except OSError:
        return []
