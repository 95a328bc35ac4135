"""The runner of a command: a process that measures its points one after another.

The process is separate because Locust patches the standard library, and because a failure of Locust
must not end the sweep. The run file has the results.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import msgspec

from sitebench.counts.fail_log import GIVEN_UP
from sitebench.counts.steady import MOST_WINDOWS
from sitebench.errors import PointFailed
from sitebench.measure.test import Test
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system import secret
from sitebench.system.child import of_this_parent, revive
from sitebench.system.programs import last_line, python_module

POLL_S = 0.25
GRACE_S = 60.0
"""Time limit for the start of a point, and also for its end after the clean-up."""
CLEANUP_NOTICE_S = 2.0
"""A clean-up that takes longer than this is announced."""
LEAVES = "; Ctrl-C now leaves the rest there"
REMOVED = "removed "
"""The begin of the line in which a point's process reports its clean-up."""
_DECIDED = ("measured", "failed")
"""Statuses of a point that has its result, even if its clean-up has not ended."""


class Request(msgspec.Struct, frozen=True):
    test: Test
    store: Path
    least_workers: int
    """The number of workers that suffice after `--workers-wait`."""
    passwords: Mapping[str, str]
    """Passwords by environment variable; in the initial environment, /proc would show them."""


def most_s(spec: PointSpec) -> float:
    """Return the time limit of a point whose workers have connected."""
    measured_s = MOST_WINDOWS * spec.measure_s
    if spec.until is not None:
        measured_s = max(measured_s, spec.measure_s + spec.until.limit_s)
    # Operations of many steps can need the measured time again to end.
    return spec.warmup_s + 2 * measured_s + spec.timeout_s + GRACE_S


class Runner:
    """Measures points one after another, in one process.

    The process starts with the first point. A new process starts after a failed point, and for a
    point of another locustfile.
    """

    def __init__(self) -> None:
        self._process: _RunnerProcess | None = None
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 -- `__exit__` closes it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._output:
            if self._process is not None:
                self._process.end()

    def run(
        self,
        test: Test,
        store: RunStore,
        watch: Callable[[float], None] = lambda elapsed_s: None,
    ) -> PointResult:
        """Measure a point; raises the error that its process reported, or PointFailed."""
        spec = test.spec
        store.begin(spec)
        # A worker that this run lost can be missing in later points too.
        has_lost = any(worker.ended for result in store.results() for worker in result.workers)
        names = (secret.BIND_PASSWORD, secret.KEY_PASSWORD)
        request = Request(
            test,
            store.path.resolve(),
            least_workers=1 if has_lost else test.options.workers or 0,
            passwords={name: os.environ[name] for name in names if name in os.environ},
        )
        if self._process is not None and self._process.locustfile != test.locustfile:
            self._process.end()
            self._process = None
        if self._process is None:
            self._process = _RunnerProcess(test.locustfile, self._output.fileno())
        process, printed = self._process, os.fstat(self._output.fileno()).st_size
        try:
            process.begin(request)
            _attend(process, test, store, watch)
            if failure := store.failure(spec.key):
                raise revive(failure)
            if (result := store.result(spec, "measured")) is not None:
                return result
            suffix = "" if process.returncode is None else f" (exit code {process.returncode})"
            raise PointFailed(
                f"{spec.title} ended without a result{suffix}: "
                f"{last_line(self._read_from(printed))}",
                "run the same command again; if the error persists, report it",
            )
        except BaseException:
            self._process = None
            process.interrupt(test)
            raise
        finally:
            for line in self._read_from(printed).splitlines():
                if line.startswith((REMOVED, GIVEN_UP)):
                    print(line, file=sys.stderr, flush=True)

    def _read_from(self, begin: int) -> str:
        end = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), end - begin, begin).decode(errors="replace")


class _RunnerProcess:
    """The process of `sitebench.locust.runner`, at the other end of a socket.

    The process receives a test, answers after the test and its clean-up, and ends with the socket.
    """

    def __init__(self, locustfile: Path, output: int) -> None:
        self.locustfile = locustfile
        inherited = secret.without_secrets(os.environ)
        environment = {
            name: text for name, text in inherited.items() if not name.startswith("LOCUST_")
        }
        self._line, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._busy = False
        with child_end:
            # The runner has its own session, so Ctrl-C reaches only the command, which ends points
            # in order.
            self._process = subprocess.Popen(
                python_module("sitebench.locust.runner"),
                stdin=child_end.fileno(),
                stdout=output,
                stderr=output,
                env=of_this_parent(environment),
                pass_fds=secret.handed_on(),
                start_new_session=True,
            )
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def begin(self, request: Request) -> None:
        import pickle  # Imported late, because a refused command does not need the module.

        self._busy = True
        # `is_over` notices a process that was killed.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._line.sendall(pickle.dumps(request))

    def is_over(self, within_s: float) -> bool:
        """Wait for the end of the point, or of the process."""
        if self._busy:
            answer = select.poll()
            answer.register(self._line, select.POLLIN)
            if not answer.poll(within_s * 1e3):
                return False
            with contextlib.suppress(ConnectionResetError):
                if self._line.recv(1):
                    self._busy = False
                    return True
            self._process.wait()
            self._busy = False
        return True

    def interrupt(self, test: Test) -> None:
        """Let the point remove added people and end; then end the process."""
        try:
            if not self.is_over(0.0):
                self._process.send_signal(signal.SIGINT)
                _await_cleanup(self, test, GRACE_S / 4, LEAVES)
        finally:
            self.end()

    def end(self) -> None:
        """End the process; if it measures, end it at once."""
        self._line.close()
        if self._busy:
            self._process.kill()
        try:
            self._process.wait(GRACE_S / 4)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _attend(
    process: _RunnerProcess, test: Test, store: RunStore, watch: Callable[[float], None]
) -> None:
    began, options = time.monotonic(), test.options
    limit_s = most_s(test.spec) + (0.0 if options.workers is None else options.workers_wait)
    while (elapsed := time.monotonic() - began) < limit_s:
        if store.status(test.spec) in _DECIDED:
            if _await_cleanup(process, test, GRACE_S):
                return
            break
        if process.is_over(POLL_S):
            return
        watch(elapsed)
    raise PointFailed(
        f"a point did not end within {time.monotonic() - began:.0f} s",
        "check whether the target still answers, then run the same command again",
    )


def _await_cleanup(process: _RunnerProcess, test: Test, patience_s: float, hint: str = "") -> bool:
    """Wait for the end of a point, `patience_s` after its clean-up; return whether it ended."""
    began = last = time.monotonic()
    announced = False
    while time.monotonic() - last < patience_s:
        if process.is_over(POLL_S):
            return True
        if (pending := test.target.pending_cleanup(process.pid)) is None:
            continue
        last = time.monotonic()
        if not announced and last - began > CLEANUP_NOTICE_S:
            announced = True
            print(f"{pending}{hint}", file=sys.stderr, flush=True)
    return False
