"""Helper processes: targets and responders that must not share a process with the generator.

The two sides talk as little as they can. The parent writes one JSON line to the child's standard
input (configuration travels there, because arguments can be read by everyone on the machine);
the child answers one JSON line, `{"ready": ...}` or `{"error": ...}`, and serves until its
standard input ends. So it ends with its parent, however that one ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from sitebench import errors
from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.stop import Stop

STOP_S = 15.0
PARENT = "SITEBENCH_PARENT"
"""Environment variable with the process id of whoever started a process that has no pipe to it."""
EXIT_TERMINATED = 128 + signal.SIGTERM


class Child:
    """A helper process that has reported ready."""

    def __init__(
        self,
        module: str,
        request: Mapping[str, Any],
        *,
        timeout_s: float = 60.0,
        before: Sequence[str] = (),
    ) -> None:
        """Start it and wait until it is ready; `before` is a command that becomes it."""
        self.name = module
        # A session of its own: Ctrl-C is for the parent, which stops its children in order.
        self._process = subprocess.Popen(
            [*before, sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            self.ready: dict[str, Any] = self._greet(request, timeout_s)
        except BaseException:
            self.stop()
            raise

    def _greet(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._silent() from None
        answer = json.loads(self._line(timeout_s))
        if "error" in answer:
            raise revive(answer["error"])
        ready: dict[str, Any] = answer["ready"]
        return ready

    def _line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        pipe, give_up, line = self._process.stdout.fileno(), time.monotonic() + timeout_s, b""
        while not line.endswith(b"\n"):
            if not select.select([pipe], [], [], max(0.0, give_up - time.monotonic()))[0]:
                raise MeasurementFailed(
                    f"{self.name} was not ready within {timeout_s:.0f} s",
                    "look at the load of this machine, or use a smaller size",
                )
            part = os.read(pipe, 65536)
            if not part:
                raise self._silent()
            line += part
        return line

    def _silent(self) -> MeasurementFailed:
        code = self._process.wait()
        return MeasurementFailed(
            f"{self.name} ended before it was ready (exit code {code})",
            "see what it wrote above; with a large size the machine may be out of memory",
        )

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process; calling it again does nothing."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def of_this_parent(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that ends when this one does, by asking `orphaned`."""
    return {**environment, PARENT: str(os.getpid())}


def orphaned() -> bool:
    """Return whether the process that started this one is gone, however it ended."""
    parent = os.environ.get(PARENT)
    return parent is not None and int(parent) != os.getppid()


def dump(error: SitebenchError) -> dict[str, str]:
    """Write an error down for another process."""
    return {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}


def revive(found: Mapping[str, str]) -> SitebenchError:
    """Make the error again that another process wrote down."""
    kind = getattr(errors, found["kind"], MeasurementFailed)
    revived: SitebenchError = kind(found["message"], found["remedy"])
    return revived


def serve(start: Callable[[dict[str, Any]], tuple[dict[str, Any], Callable[[], object]]]) -> None:
    """Be the child: read the request, start, report ready, and serve until told to stop.

    `start` returns what to report and how to stop. A parent that goes away meanwhile ends it by
    SystemExit, so it must clean up behind itself on any exception.
    """
    stopped, started = Stop(), False

    def on_signal(_signal: int, _frame: FrameType | None) -> None:
        if not started:
            sys.exit(EXIT_TERMINATED)

    with stopped.on(signal.SIGTERM, handler=on_signal):
        request = json.loads(sys.stdin.readline())
        threading.Thread(target=_end_with_parent, daemon=True).start()
        try:
            ready, stop = start(request)
        except SitebenchError as error:
            _say({"error": dump(error)})
            sys.exit(error.exit_code)
        started = True
        _say({"ready": ready})
        stopped.wait()
        stop()


def _say(answer: Mapping[str, Any]) -> None:
    """Answer the parent; one that is gone is noticed by the end of our standard input."""
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(answer), flush=True)


def _end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
