"""Child processes for targets, which must not share a process with the load generator.

The parent writes a JSON line with the configuration to the child's standard input (every user of
the machine can read arguments). The child answers `{"ready": ...}` or `{"error": ...}`, and answers
further lines with the state of its service. The child ends when its input ends, and so when its
parent ends.
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

import msgspec

from sitebench import errors
from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.system.programs import python_module
from sitebench.system.secret import without_secrets
from sitebench.system.stop import Stop

_STOP_S = 15.0
ANSWER_S = 60.0
"""Time limit for an answer, long enough for a slow child on a busy machine."""
_PARENT = "SITEBENCH_PARENT"
"""Environment variable with the parent's process id, for processes without a pipe."""
_EXIT_TERMINATED = 128 + signal.SIGTERM


class Child:
    def __init__(
        self,
        module: str,
        request: Mapping[str, Any],
        *,
        timeout_s: float = 60.0,
        before: Sequence[str] = (),
    ) -> None:
        """Start the process and wait until it is ready; `before` is a prefix of its command."""
        self.name = module
        # The child has its own session, so Ctrl-C reaches only the parent, which ends children in
        # order.
        self._process = subprocess.Popen(
            [*before, *python_module(module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=without_secrets(os.environ),
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._received = b""
        self._pending = 0
        try:
            answer = self._exchange(request, timeout_s)
            if "error" in answer:
                raise revive(answer["error"])
            self.ready: dict[str, Any] = answer["ready"]
        except BaseException:
            self.stop()
            raise

    def ask(self) -> dict[str, Any]:
        state: dict[str, Any] = self._exchange({}, ANSWER_S)["state"]
        return state

    def _exchange(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a line and return its answer; skip late answers to earlier lines."""
        assert self._process.stdin is not None
        self._pending += 1
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._early_end() from None
        while self._pending:
            line = self._line(timeout_s)
            self._pending -= 1
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        pipe, give_up = self._process.stdout.fileno(), time.monotonic() + timeout_s
        while b"\n" not in self._received:
            if not select.select([pipe], [], [], max(0.0, give_up - time.monotonic()))[0]:
                raise MeasurementFailed(
                    f"{self.name} did not answer within {timeout_s:.0f} s",
                    "check the load of this machine, or use a smaller size",
                )
            part = os.read(pipe, 65536)
            if not part:
                raise self._early_end()
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _early_end(self) -> MeasurementFailed:
        code = self._process.wait()
        return MeasurementFailed(
            f"{self.name} ended before it answered (exit code {code})",
            "see its output above; with a large size the machine may be out of memory",
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process; a second call does nothing."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def of_this_parent(environment: Mapping[str, str]) -> dict[str, str]:
    return {**environment, _PARENT: str(os.getpid())}


def is_orphaned() -> bool:
    """Return whether the process that started this process has ended."""
    parent = os.environ.get(_PARENT)
    return parent is not None and int(parent) != os.getppid()


def lives(pid: int) -> bool:
    """Return whether a process runs and is no zombie."""
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def dump(error: SitebenchError) -> dict[str, str]:
    return {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}


def revive(dumped: Mapping[str, str]) -> SitebenchError:
    kind = getattr(errors, dumped["kind"], None)
    if not (isinstance(kind, type) and issubclass(kind, SitebenchError)):
        kind = MeasurementFailed
    return kind(dumped["message"], dumped["remedy"])


class Service(msgspec.Struct, frozen=True):
    ready: Mapping[str, Any]
    stop: Callable[[], object]
    state: Callable[[], Mapping[str, Any]] = dict


def serve(start: Callable[[dict[str, Any]], Service]) -> None:
    """Run as the child process: read the request, start, report readiness, serve until stopped.

    `start` must clean up after any exception: if the parent ends, `start` gets a SystemExit.
    """
    stopped = Stop()
    service: Service | None = None

    def on_signal(_signal: int, _frame: FrameType | None) -> None:
        if service is None:
            sys.exit(_EXIT_TERMINATED)

    def state() -> Mapping[str, Any]:
        return {} if service is None else service.state()

    with stopped.on_signals(signal.SIGTERM, handler=on_signal):
        request = json.loads(sys.stdin.readline())
        threading.Thread(target=_answer_parent, args=(state,), daemon=True).start()
        try:
            service = start(request)
        except SitebenchError as error:
            _answer({"error": dump(error)})
            sys.exit(error.exit_code)
        _answer({"ready": service.ready})
        stopped.wait()
        service.stop()


def _answer(answer: Mapping[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # Standard input ends if the parent has ended.
        print(json.dumps(answer), flush=True)


def _answer_parent(state: Callable[[], Mapping[str, Any]]) -> None:
    """Answer the parent's lines, and end when the parent ends."""
    try:
        while sys.stdin.readline():
            _answer({"state": state()})
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
