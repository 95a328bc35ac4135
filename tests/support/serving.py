"""`sitebench ils serve` and `ps serve`, as another program starts and ends them."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.waiting import left_s
from tests.support.warm import Warm

GREETING = 3


@contextmanager
def serving(suite: str, *argv: str) -> Iterator[tuple[Warm, list[str]]]:
    """Yield a running server of a suite and the lines it greeted with; it is ended in order."""
    command = (suite, "serve", "--port", "0", *argv)
    with Warm("sitebench.cli.main", *command, together=True) as process:
        try:
            yield process, process.lines(GREETING)
        finally:
            process.terminate()
            process.wait(left_s())
