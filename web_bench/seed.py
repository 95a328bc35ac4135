"""Writing a file set into the folder that a web server serves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sitebench._engine import FileSet
from sitebench.system.native_errors import translated

Progress = Callable[[int, int], object]
"""Called with how many bytes are done, and how many the set has."""


def file_set(spec: Mapping[str, Any]) -> FileSet:
    """Return the set of a spec, whose fields are those of `FileSet`."""
    with translated():
        return FileSet(json.dumps(dict(spec)))


def seed(
    spec: Mapping[str, Any],
    docroot: Path,
    progress: Progress = lambda written, total: None,
) -> Path:
    """Write a file set into `docroot` and return its manifest.

    The manifest is JSON lines: the spec, then path, size and SHA-256 of each file, then the totals.
    An interrupted seeding, by a kill too, is resumed by the same call: files that the manifest
    names are kept, and the totals are there when the set is complete.
    """
    files = file_set(spec)
    with translated():
        files.write(str(docroot), lambda written: progress(written, files.bytes))
    return docroot / f"{spec['name']}.manifest"
