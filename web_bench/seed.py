"""Writing of a file set into the folder of a web server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sitebench._engine import FileSet
from sitebench.system.native_errors import translated

Progress = Callable[[int, int], object]
"""Called with the written bytes, and the total."""


def file_set(spec: Mapping[str, Any]) -> FileSet:
    with translated():
        return FileSet(json.dumps(dict(spec)))


def seed(
    spec: Mapping[str, Any], docroot: Path, progress: Progress = lambda written, total: None
) -> Path:
    """Write a file set into `docroot` and return its manifest.

    The manifest is JSON lines: the specification, then path, size and SHA-256 of each file, then
    totals. The same call resumes an interrupted seeding: files in the manifest stay; the totals
    mark a complete set.
    """
    files = file_set(spec)
    with translated():
        files.write(str(docroot), lambda written: progress(written, files.bytes))
    return docroot / f"{spec['name']}.manifest"
