"""A child process that executes given code, so that its resource use is known."""

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
    """A Python process at the other end of a pipe; it is idle between two requests."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def do(self, code: str) -> str:
        """Execute code in the actor, and return the representation of `result`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(repr(textwrap.dedent(code)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the actor died"
        return answer.strip()

    def kill(self) -> None:
        """Kill the actor, and leave it a zombie by not waiting for it."""
        self._process.kill()


@contextlib.contextmanager
def acting(before: Sequence[str] = ()) -> Iterator[Actor]:
    """Yield an actor, started with the prefix `before`."""
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
