"""`sitebench ils serve` and `ps serve`, started and ended by another program."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.support.cli import SITEBENCH
from tests.support.waiting import ends_s

GREETING = 3


@contextmanager
def serving(
    suite: str, *argv: str, before: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Yield a running server of a suite and its first lines; it is ended by a signal.

    Its command begins with `before`.
    """
    with subprocess.Popen(
        [*before, *SITEBENCH, suite, "serve", "--port", "0", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, [process.stdout.readline() for _ in range(GREETING)]
        finally:
            process.terminate()
            try:
                process.wait(ends_s())
            finally:
                process.kill()
