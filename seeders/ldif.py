"""LDIF of a population, for directories that load files faster than they take requests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

from sitebench._engine import Population
from sitebench.errors import BadInput
from sitebench.native_errors import translated

Progress = Callable[[int, int], object]
"""Called with how many people are written, about, and how many are wanted."""

POLL_S = 0.2
# People whose bytes tell how long the file will be: every locale is among them.
SAMPLE = 1000


def write_ldif(
    population: Population,
    path: Path,
    *,
    start: int = 0,
    stop: int | None = None,
    containers: bool = True,
    progress: Progress | None = None,
) -> int:
    """Write people [start, stop) to `path` and return the file's bytes; `stop` defaults to all.

    `containers` puts the entries of the base DN first, so that the file loads into an empty
    directory. The file appears when it is complete: half a file would load as if it were all.
    """
    end = population.size if stop is None else stop
    if not 0 <= start <= end:
        raise BadInput(
            f"no people from {start} to {end}", "give a range that begins before it ends"
        )
    with complete_or_nothing(path) as part, ThreadPoolExecutor(1) as pool:

        def write(until: int) -> int:
            return population.write_ldif(str(part), start, until, with_containers=containers)

        if progress is not None:
            sample = min(SAMPLE, end - start)
            bytes_each = write(start + sample) / max(sample, 1)
            # The engine writes without the interpreter's lock, so this thread can look on.
            future = pool.submit(write, end)
            follow(future, part, bytes_each, end - start, progress)
            return future.result()
        return write(end)


def follow(
    future: Future[int], part: Path, bytes_each: float, wanted: int, progress: Progress
) -> None:
    """Report how far the file is until it is complete."""
    while wait([future], POLL_S).not_done:
        progress(min(int(part.stat().st_size / bytes_each), wanted), wanted)
    if future.exception() is None:
        progress(wanted, wanted)


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `path` on success and goes on failure."""
    try:
        folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise cannot_write(path, error.strerror) from error
    with folder as name:
        part = Path(name) / path.name
        with translated():
            yield part
        try:
            part.replace(path)
        except OSError as error:
            raise cannot_write(path, error.strerror) from error


def cannot_write(path: Path, why: str | None) -> BadInput:
    """Return the error of a file that cannot be had."""
    remedy = "choose a writable place with enough room"
    return BadInput(f"cannot write {path}: {why}", remedy)
