"""The folder with the files of a workload: a folder of the user's, or one in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.seeders.pools import cache_folder
from web_bench.options import FileSetOptions, ServeOptions, WebOptions
from web_bench.workload import Progress, Workload, seed


def with_options(workload: Workload, options: FileSetOptions) -> Workload:
    if options.files_per_class is None or workload.file_set is None:
        return workload
    files = replace(workload.file_set, files_per_class=options.files_per_class)
    return replace(workload, file_set=files)


def docroot_of(
    options: WebOptions | ServeOptions,
    workloads: Sequence[Workload],
    progress: Progress = lambda written, total: None,
) -> Path | None:
    """Return the folder of a server that is started here, with the file set of workloads.

    Existing files are not written again.
    """
    sets = [files for workload in workloads if (files := workload.file_set) is not None]
    if not sets:
        return None if options.docroot is None else Path(options.docroot)
    spec = sets[0].spec(options.seed)
    if options.docroot is not None:
        folder = Path(options.docroot)
    else:
        digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:12]
        folder = cache_folder() / "web" / f"{spec['name']}-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # A second test waits here until the first test has written the files.
            fcntl.flock(lock, fcntl.LOCK_EX)
            seed(spec, folder, progress)
        finally:
            os.close(lock)
    except OSError as error:
        raise BadInput(
            f"cannot keep files in {folder}: {error.strerror}",
            "name a writable folder with --docroot",
        ) from error
    return folder
