"""Processes that have their imports already: forks of one that stays ready.

What a process imports (Locust, the suites) can take longer than what it is for. So one process
imports it, and forks whenever one is wanted. It ends with the process that started it, however that
ended: its input is a socket, over which requests come. Each brings a line of its own, also a
socket. On it the fork says that it is there, and waits until it may go; on it the process that
stays ready says how the fork ended.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import math
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

from sitebench.errors import MeasurementFailed
from sitebench.system.child import lives, of_this_parent
from sitebench.system.programs import last_line, python_module
from sitebench.system.secret import without_secrets

_MOST_DESCRIPTORS = 250
_ANSWER_BYTES = 256
_ENDS_WITHIN_S = 5.0
_LOOKS_EVERY_S = 0.05
_EXIT_NOT_WRITTEN = 120
"""Python's own, where what was printed cannot be written."""
_READ_AT_START = ("PYTHON", "GEVENT", "LANG", "LC_", "LD_", "MALLOC_")
"""How variables begin that a process reads when it starts, or as it imports."""
_LIMITS = [value for name, value in vars(resource).items() if name.startswith("RLIMIT_")]


class Forked:
    """A process that was forked; used like a `subprocess.Popen`."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._line = line

    def poll(self) -> int | None:
        """Return the exit code (less than 0: of a signal), or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; return its exit code, or raise TimeoutExpired."""
        if self.returncode is None:
            waiting = select.poll()
            waiting.register(self._line, select.POLLIN)
            if not waiting.poll(None if timeout is None else timeout * 1e3):
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            try:
                answer = self._line.recv(_ANSWER_BYTES)
            except ConnectionResetError:
                # A fork that was killed at once has not read that it may go.
                answer = self._line.recv(_ANSWER_BYTES)
            if not answer:
                self._wait_for_orphan(timeout)
            self.returncode = int(answer or -signal.SIGKILL)
            self._line.close()
        return self.returncode

    def _wait_for_orphan(self, timeout: float | None) -> None:
        """Wait for a fork whose parent was killed: it notices, and ends by itself."""
        give_up = math.inf if timeout is None else time.monotonic() + timeout
        while lives(self.pid):
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            time.sleep(_LOOKS_EVERY_S)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        self.send_signal(signal.SIGKILL)


class _Ready:
    """The process that stays ready to call a function."""

    def __init__(self, function: str, environment: Mapping[str, str]) -> None:
        self._said = os.memfd_create("said")
        self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [*python_module("sitebench.system.forked"), function],
                stdin=its.fileno(),
                stdout=self._said,
                stderr=self._said,
                env=without_secrets(environment),
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, request: bytes, descriptors: Sequence[int]) -> Forked:
        line, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        told, forked = os.memfd_create("request"), None
        try:
            os.write(told, request)
            with contextlib.suppress(OSError):
                socket.send_fds(self._control, [b"."], [its.fileno(), told, *descriptors])
            its.close()
            answer = line.recv(_ANSWER_BYTES)
            if not answer:
                raise self._failed()
            if not answer.isdigit():
                raise MeasurementFailed(
                    f"no process can be forked for a point: {answer.decode()}", "end other programs"
                )
            forked = Forked(int(answer), line)
            # One that was killed by now has an exit code.
            with contextlib.suppress(OSError):
                line.send(b"go")
        except BaseException:
            # If it did not go yet, it never goes.
            line.close()
            if forked is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(forked.pid, signal.SIGKILL)
            raise
        finally:
            its.close()
            os.close(told)
        return forked

    def _failed(self) -> MeasurementFailed:
        self.end()
        code = self._process.returncode
        said = os.pread(self._said, 1 << 16, 0).decode(errors="replace")
        return MeasurementFailed(
            f"the process that points are forked from ended (exit code {code}): {last_line(said)}",
            "see what it said, and whether memory is left; then run the same command again",
        )

    def end(self) -> None:
        # Not just closed: a fork of this process may have it, too.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_Inherited = tuple[object, ...]
_ready: dict[tuple[str, int, _Inherited], _Ready] = {}
_asking = threading.Lock()


def fork(
    function: str,
    arguments: Sequence[str],
    *,
    output: int,
    environment: Mapping[str, str],
    descriptors: Sequence[int] = (),
) -> Forked:
    """Call a function, "module:name", in a process that has imported its module before.

    It finds its arguments in `sys.argv[1:]`, and what it writes goes to `output`. The descriptors
    are handed on under the same numbers, so none may be one that it has opened itself: those of
    `secret.handed_on` are not.
    """
    request = {
        "arguments": arguments,
        "environment": dict(environment),
        "limits": [(limit, resource.getrlimit(limit)) for limit in _LIMITS],
        "as": descriptors,
    }
    key = (function, os.getpid(), _inherited(environment))
    with _asking:
        if key in _ready and not _ready[key].alive:
            _ready.pop(key).end()
        if key not in _ready:
            _ready[key] = _Ready(function, environment)
        # Not ".", which may not be opened in a folder of another user.
        here = os.open("/proc/self/cwd", os.O_PATH)
        try:
            return _ready[key].fork(json.dumps(request).encode(), [here, output, *descriptors])
        finally:
            os.close(here)


def _inherited(environment: Mapping[str, str]) -> _Inherited:
    """Return what a new process has and a fork cannot be given: it has what stays ready has."""
    return (
        tuple(sorted(os.sched_getaffinity(0))),
        os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0),
        tuple((k, v) for k, v in environment.items() if k.startswith(_READ_AT_START)),
    )


@atexit.register
def _end() -> None:
    for (_, pid, _), ready in _ready.items():
        if pid == os.getpid():
            ready.end()


# As they are before Locust exchanges them for gevent's, which leave work to an event loop.
_fork, _waitpid, _close = os.fork, os.waitpid, os.close
_select, _on_signal = select.select, signal.signal


class _StayingReady:
    """The process that stays ready: forks for each request."""

    def __init__(self) -> None:
        self._control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
        self._lines: dict[int, int] = {}
        """Of each fork that lives, by its id."""
        # A fork of who asks may hold its end of the socket: that it ended shows here.
        # Before Linux 5.3 it does not.
        self._asker: list[int] = []
        with contextlib.suppress(OSError):
            self._asker.append(os.pidfd_open(os.getppid()))
        self._woken, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        _on_signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._waker)

    def until_forked(self) -> None:
        """Stay ready; return in every fork."""
        sources: list[Any] = [self._control, self._woken, *self._asker]
        while True:
            ready, _, _ = _select(sources, [], [])
            if not {*self._asker}.isdisjoint(ready):
                os._exit(0)
            if self._woken in ready:
                os.read(self._woken, 1 << 10)
                self._say_who_ended()
            if self._control in ready and self._forked():
                return

    def _forked(self) -> bool:
        """Fork for the next request; return whether this is the fork."""
        asked, received, _, _ = socket.recv_fds(
            self._control, 1, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not asked:
            os._exit(0)  # Who asks has ended.
        line, told, *rest = received
        request = json.loads(os.pread(told, os.fstat(told).st_size, 0))
        _close(told)
        request["environment"] = of_this_parent(request["environment"])
        try:
            pid = _fork()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.write(line, str(error).encode())
            _close(line)
        else:
            if pid == 0:
                self._wait_to_go(line)
                _become(request, *rest)
                return True
            self._lines[pid] = line
        for each in rest:
            _close(each)
        return False

    def _say_who_ended(self) -> None:
        for pid in [*self._lines]:
            if (ended := _waitpid(pid, os.WNOHANG)) != (0, 0):
                line = self._lines.pop(pid)
                with contextlib.suppress(OSError):
                    os.write(line, b"%d" % os.waitstatus_to_exitcode(ended[1]))
                _close(line)

    def _wait_to_go(self, line: int) -> None:
        """In a fork, leave what stays ready alone, and wait until its process is known."""
        signal.set_wakeup_fd(-1)
        _on_signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        self._control.close()
        for each in (*self._asker, self._woken, self._waker, *self._lines.values()):
            _close(each)
        with contextlib.suppress(OSError):
            os.write(line, b"%d" % os.getpid())
            if os.read(line, _ANSWER_BYTES):
                _close(line)
                return
        os._exit(0)


def _become(request: dict[str, Any], here: int, output: int, *handed_on: int) -> None:
    """Be the process that was asked for."""
    os.setsid()
    with contextlib.suppress(PermissionError):
        # Where it may not be entered, the process that stays ready is in it already.
        os.fchdir(here)
    null = os.open(os.devnull, os.O_RDONLY)
    wanted = [(null, 0), (output, 1), (output, 2), *zip(handed_on, request["as"], strict=True)]
    for have, want in wanted:
        os.dup2(have, want)
    for each in (here, null, output, *handed_on):
        _close(each)
    for limit, values in request["limits"]:
        if resource.getrlimit(limit) != tuple(values):
            resource.setrlimit(limit, values)
    # A variable without a name cannot be changed.
    environment = {name: value for name, value in request["environment"].items() if name}
    for name in os.environ.keys() - environment.keys() - {""}:
        del os.environ[name]
    os.environ.update(environment)
    sys.argv[1:] = request["arguments"]


class _Leaving:
    """Ends a fork when all else is done: without taking apart what it shares, which copies it."""

    def __init__(self) -> None:
        self._code: int | None = None
        # Registered before those of what is imported from now on, it is called after them.
        atexit.register(self._leave)

    def call(self, function: Callable[[], object]) -> None:
        """Call a function, and note the exit code of how it ends."""
        self._code = 1
        try:
            function()
        except SystemExit as ended:
            if ended.code is None or isinstance(ended.code, int):
                self._code = ended.code or 0
            raise
        except KeyboardInterrupt:
            self._code = None  # It ends by a signal.
            raise
        self._code = 0

    def _leave(self) -> None:
        if self._code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.flush()
                except OSError:
                    self._code = _EXIT_NOT_WRITTEN
        os._exit(self._code & 0xFF)


def main() -> None:
    """Import a function's module; then call the function, in each fork."""
    leaving, staying_ready = _Leaving(), _StayingReady()
    # What is imported stays: collections would find nothing to free, again and again. Forks share
    # it, so a collection in one would copy it all to look at it.
    gc.disable()
    function = resolve_name(sys.argv[1])
    gc.freeze()
    gc.enable()
    staying_ready.until_forked()
    leaving.call(function)


if __name__ == "__main__":
    main()
