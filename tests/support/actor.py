"""A child process that runs the code it is given, so that what it used is known."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence

_CODE = """
import ast, sys
space = {}
for line in sys.stdin:
    exec(ast.literal_eval(line), space)
    print(repr(space.pop("result", None)), flush=True)
"""


class Actor:
    """A Python process at the other end of a pipe; it rests between two orders."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def do(self, code: str) -> str:
        """Have it run some code, and return how it wrote what it put into `result`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(repr(textwrap.dedent(code)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the actor died"
        return answer.strip()

    def kill(self) -> None:
        """End it, and leave it a zombie: its parent has not waited for it yet."""
        self._process.kill()


@contextlib.contextmanager
def acting(before: Sequence[str] = ()) -> Iterator[Actor]:
    """Yield an actor, started by the words of `before` where there are any."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", _CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            actor = Actor(process)
            actor.do("")  # what Python does to start is over
            yield actor
        finally:
            process.kill()
