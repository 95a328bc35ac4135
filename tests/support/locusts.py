"""Locust as users start it, or forked from a process that has imported it, for half the CPU.

A forked one differs in its name in a process list, in the order of imports, and in what
a process has from its start (locale, time zone, hash seed).
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tests.support.cli import Ran
from tests.support.fork_server import Forked
from tests.support.waiting import ends_s, left_s

LOCUST = (sys.executable, "-m", "locust")
FORKED_LOCUST = "tests.support.preloaded:locust"
"""Starts like `locust`."""
FORKED_UI = "tests.support.preloaded:web_ui"
"""Starts like `sitebench`, and becomes Locust."""


class Locust:
    """A Locust in a new session; used like a Popen."""

    _process: Forked | subprocess.Popen[bytes]

    def __init__(
        self,
        *argv: str,
        cwd: Path | None = None,
        env: Mapping[str, str] = MappingProxyType({}),
        together: bool = False,
        forked: bool = True,
        main: str = FORKED_LOCUST,
        command: Sequence[str] = LOCUST,
    ) -> None:
        """Start Locust; `env` extends its environment, `together` merges errors into the output.

        A forked Locust begins with `main`, another one with the words of `command`.
        """
        self._out, self._err = _Heard(), _Heard()
        environment = {**os.environ, "COLUMNS": "160", **env}
        out, err = self._out.end, (self._out if together else self._err).end
        try:
            if forked:
                streams = {"output": out, "errors": err}
                self._process = Forked(main, argv, environment=environment, folder=cwd, **streams)
            else:
                self._process = subprocess.Popen(
                    [*command, *argv],
                    cwd=cwd,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
        finally:
            self._out.no_more_of_ours()
            self._err.no_more_of_ours()
        self.pid = self._process.pid
        self.poll, self.wait = self._process.poll, self._process.wait
        self.send_signal = self._process.send_signal

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill Locust and its worker processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def said(self) -> str:
        return self._out.text()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until Locust and all its processes have ended; return their output."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        self.wait(timeout)
        return self._out.whole(deadline), self._err.whole(deadline)

    def __enter__(self) -> Locust:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait(ends_s())


class _Heard:
    """The output of a pipe until all writers have closed it."""

    def __init__(self) -> None:
        begin, self.end = os.pipe()
        self._said = bytearray()
        self._listening = threading.Thread(target=self._listen, args=(begin,), daemon=True)
        self._listening.start()

    def no_more_of_ours(self) -> None:
        os.close(self.end)

    def _listen(self, begin: int) -> None:
        while part := os.read(begin, 1 << 16):
            self._said += part
        os.close(begin)

    def text(self) -> str:
        return self._said.decode(errors="replace")

    def whole(self, deadline: float) -> str:
        left = deadline - time.monotonic()
        self._listening.join(None if left == math.inf else max(0.0, left))
        if self._listening.is_alive():
            raise subprocess.TimeoutExpired("what Locust started", left, self.text())
        return self._said.decode()


def run_locust(
    *argv: str,
    cwd: Path | None = None,
    env: Mapping[str, str] = MappingProxyType({}),
    forked: bool = True,
    main: str = FORKED_LOCUST,
) -> Ran:
    """Run Locust to its end, or to the end of the test."""
    with Locust(*argv, cwd=cwd, env=env, forked=forked, main=main) as process:
        out, err = process.communicate(left_s())
        return Ran(process.wait(), out, err)
