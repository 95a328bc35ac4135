"""The digest of a population, computed in a thread while its people are written somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from sitebench._engine import Contents, Population

_PEOPLE_AT_A_TIME = 10_000


@contextmanager
def contents_meanwhile(population: Population) -> Iterator[Future[Contents]]:
    """Digest the whole population in a thread; an exception in the block ends it early."""
    left = Event()

    def count() -> Contents:
        contents = population.contents(0, 0)
        for start in range(0, population.size, _PEOPLE_AT_A_TIME):
            if left.is_set():
                break
            contents += population.contents(start, min(start + _PEOPLE_AT_A_TIME, population.size))
        return contents

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(count)
        try:
            yield future
        except BaseException:
            left.set()
            raise
