"""The runner of a command: a process that measures its points one after another.

Its own process, because Locust patches the standard library it is imported into, and must be able
to fail without ending the sweep. Results come back through the run file; a point's command can be
run by hand with the same effect.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from sitebench.counts.fail_log import GIVEN_UP
from sitebench.counts.steady import MOST_WINDOWS
from sitebench.errors import PointFailed
from sitebench.frozen import frozen
from sitebench.measure.options import LoadOptions, PointOptions
from sitebench.options import convert
from sitebench.options.addresses import MasterAddress
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system import secret
from sitebench.system.child import of_this_parent, revive
from sitebench.system.programs import last_line, python_module

POLL_S = 0.25
GRACE_S = 60.0
"""Time beyond its windows that a point may take to start; and to end once its clean-up is done."""
CLEANUP_NOTICE_S = 2.0
"""A clean-up that takes longer than this is announced."""
LEAVES = "; Ctrl-C now leaves the rest there"
REMOVED = "removed "
"""What begins the line in which a point's process says what it cleaned up."""
_LOCUST = python_module("sitebench.locust.process")
_DECIDED = ("measured", "failed")
"""States that a point's process reports before it ends."""


@frozen
class Gathering:
    """The workers of a point: how many, the master's address, and how long to wait for them."""

    count: int
    at: MasterAddress
    wait_s: float

    @classmethod
    def of(cls, options: LoadOptions) -> Gathering | None:
        """Return what the options ask for; None if the point's own process makes the load."""
        if options.workers is None:
            return None
        return cls(options.workers, options.bind, options.workers_wait)

    def argv(self) -> list[str]:
        return [
            *("--master", "--master-bind-host", self.at.host),
            *("--master-bind-port", str(self.at.port), "--expect-workers", str(self.count)),
            *("--expect-workers-max-wait", str(max(1, round(self.wait_s)))),
        ]


@frozen
class PointCommand:
    """What to run for a point, in addition to its specification."""

    locustfile: Path
    user_class: str
    arguments: Sequence[str]
    target_pid: int | None = None
    target_cores: int | None = None
    gathering: Gathering | None = None
    pending_cleanup: Callable[[int], str | None] = lambda pid: None
    """Describes what the process with this id is still removing from the target; None when it is
    done."""

    @property
    def wait_s(self) -> float:
        """How long to wait for workers before the load begins."""
        return 0.0 if self.gathering is None else self.gathering.wait_s

    def argv(self, spec: PointSpec, store: Path, *, lost_before: bool = False) -> list[str]:
        """Return the command line; after the loss of a worker, one worker is enough."""
        gathering = self.gathering
        least = None if gathering is None else 1 if lost_before else gathering.count
        users, stages = spec.users, spec.stages
        if stages is not None and stages.of_users:
            users = stages.users_at(0.0)  # More come later: `locust.role_local`.
        mine = PointOptions(
            store=str(store),
            point=spec.key,
            target_pid=self.target_pid,
            target_cores=self.target_cores,
            least_workers=least,
        )
        return [
            *(*_LOCUST, "-f", str(self.locustfile), "--headless"),
            *("--only-summary", "--loglevel", "WARNING"),
            *("--users", str(users), "--spawn-rate", str(users)),
            *([] if gathering is None else gathering.argv()),
            *convert.to_argv(mine),
            *self.arguments,
            self.user_class,
        ]


def most_s(spec: PointSpec) -> float:
    """Return how long a point may take at the most, from the time that its workers are there."""
    measured_s = MOST_WINDOWS * spec.measure_s
    if spec.until is not None:
        measured_s = max(measured_s, spec.measure_s + spec.until.limit_s)
    # As long again is waited for operations of many steps.
    return spec.warmup_s + 2 * measured_s + spec.timeout_s + GRACE_S


class Runner:
    """Measures points one after another, in one process.

    The process is started for the first point. A point that fails ends it; the next gets another,
    and so does one of another locustfile.
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
        spec: PointSpec,
        store: RunStore,
        command: PointCommand,
        watch: Callable[[float], None] = lambda elapsed_s: None,
    ) -> PointResult:
        """Measure one point; raises what its process reported, or PointFailed."""
        store.begin(spec)
        # A worker that a point of this run lost may be missing from now on.
        lost = command.gathering is not None and any(
            worker.ended for result in store.results() for worker in result.workers
        )
        argv = command.argv(spec, store.path.resolve(), lost_before=lost)
        if self._process is not None and self._process.locustfile != command.locustfile:
            self._process.end()
            self._process = None
        if self._process is None:
            self._process = _RunnerProcess(command.locustfile, self._output.fileno())
        process, printed = self._process, os.fstat(self._output.fileno()).st_size
        try:
            process.begin(argv[len(_LOCUST) :])
            _attend(process, spec, store, command, watch)
            if failure := store.failure(spec.key):
                raise revive(failure)
            if (result := store.result(spec, "measured")) is not None:
                return result
            how = "" if process.returncode is None else f" (exit code {process.returncode})"
            raise PointFailed(
                f"{spec.title} ended without a result{how}: {last_line(self._printed(printed))}",
                f"run it by hand: {shlex.join(argv)}",
            )
        except BaseException:
            self._process = None
            process.interrupt(command)
            raise
        finally:
            for line in self._printed(printed).splitlines():
                if line.startswith((REMOVED, GIVEN_UP)):
                    print(line, file=sys.stderr, flush=True)

    def _printed(self, begin: int) -> str:
        """Return what processes have printed from there on."""
        end = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), end - begin, begin).decode(errors="replace")


def run_point(
    spec: PointSpec,
    store: RunStore,
    command: PointCommand,
    watch: Callable[[float], None] = lambda elapsed_s: None,
) -> PointResult:
    """Measure one point in a runner of its own."""
    with Runner() as runner:
        return runner.run(spec, store, command, watch)


class _RunnerProcess:
    """The process of `sitebench.locust.runner`, at the other end of a socket.

    It is sent a point's arguments, answers when the point is over, its clean-up included, and ends
    when this side is closed.
    """

    def __init__(self, locustfile: Path, output: int) -> None:
        self.locustfile = locustfile
        inherited = secret.without_secrets(os.environ)
        kept = {name: text for name, text in inherited.items() if not name.startswith("LOCUST_")}
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._busy = False
        with theirs:
            # A session of its own: Ctrl-C is for the command, which ends its points in order.
            self._process = subprocess.Popen(
                python_module("sitebench.locust.runner"),
                stdin=theirs.fileno(),
                stdout=output,
                stderr=output,
                env=of_this_parent(kept),
                pass_fds=secret.handed_on(),
                start_new_session=True,
            )
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.returncode

    def begin(self, arguments: Sequence[str]) -> None:
        """Have it measure a point.

        Passwords go over the socket: the variables that a process starts with can be read.
        """
        self._busy = True
        names = (secret.BIND_PASSWORD, secret.KEY_PASSWORD)
        passwords = {name: os.environ[name] for name in names if name in os.environ}
        # One that was killed is missed by `is_over`.
        with contextlib.suppress(BrokenPipeError):
            self._line.send(json.dumps([arguments, passwords]).encode())

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

    def interrupt(self, command: PointCommand) -> None:
        """Let the point end in order, so that added people are removed; then end the process."""
        try:
            if not self.is_over(0.0):
                self._process.send_signal(signal.SIGINT)
                _await_cleanup(self, command, GRACE_S / 4, LEAVES)
        finally:
            self.end()

    def end(self) -> None:
        """End the process, at once if it measures."""
        self._line.close()
        if self._busy:
            self._process.kill()
        try:
            self._process.wait(GRACE_S / 4)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _attend(
    process: _RunnerProcess,
    spec: PointSpec,
    store: RunStore,
    command: PointCommand,
    watch: Callable[[float], None],
) -> None:
    """Wait until a point has a result, and then until it is over."""
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < command.wait_s + most_s(spec):
        if store.status(spec) in _DECIDED:
            if _await_cleanup(process, command, GRACE_S):
                return
            break
        if process.is_over(POLL_S):
            return
        watch(elapsed)
    raise PointFailed(
        f"a point did not end within {time.monotonic() - began:.0f} s",
        "check whether the target still answers, then run the same command again",
    )


def _await_cleanup(
    process: _RunnerProcess, command: PointCommand, patience_s: float, hint: str = ""
) -> bool:
    """Wait for the end of a point and its clean-up; return whether it ended.

    While clean-up is pending it waits; after that, for `patience_s` more.
    """
    began = last = time.monotonic()
    announced = False
    while time.monotonic() - last < patience_s:
        if process.is_over(POLL_S):
            return True
        if (pending := command.pending_cleanup(process.pid)) is None:
            continue
        last = time.monotonic()
        if not announced and last - began > CLEANUP_NOTICE_S:
            announced = True
            print(f"{pending}{hint}", file=sys.stderr, flush=True)
    return False
