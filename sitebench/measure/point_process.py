"""One point in a Locust process of its own: started, monitored, ended.

Its own process, because Locust patches the standard library it is imported into, keeps state
per process, and must be able to fail without ending the sweep. Results come back through the run
file; the command can be run by hand with the same effect.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

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
from sitebench.system.child import revive
from sitebench.system.forked import Forked, fork
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


def run_point(
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
    with tempfile.TemporaryFile("w+") as output:
        process = _started(argv[len(_LOCUST) :], output.fileno())
        try:
            code = _attended(process, spec, store, command, watch)
        finally:
            _end(process, command)
            output.seek(0)
            text = output.read()
            for line in text.splitlines():
                if line.startswith((REMOVED, GIVEN_UP)):
                    print(line, file=sys.stderr, flush=True)
    if failure := store.failure(spec.key):
        raise revive(failure)
    result = store.result(spec, "measured")
    if result is None:
        raise PointFailed(
            f"the Locust process of {spec.title} ended without a result (exit code {code}): "
            f"{last_line(text)}",
            f"run it by hand: {shlex.join(argv)}",
        )
    return result


def _started(arguments: Sequence[str], output: int) -> Forked:
    needed = secret.without_secrets(os.environ, secret.BIND_PASSWORD, secret.KEY_PASSWORD)
    return fork(
        "sitebench.suite_base.process:main",
        arguments,
        output=output,
        environment={k: v for k, v in needed.items() if not k.startswith("LOCUST_")},
        descriptors=secret.handed_on(),
    )


def _attended(
    process: Forked,
    spec: PointSpec,
    store: RunStore,
    command: PointCommand,
    watch: Callable[[float], None],
) -> int:
    """Wait for a point's process: until it has a result, then until it ends."""
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < command.wait_s + most_s(spec):
        if store.status(spec) in _DECIDED:
            if (code := _ended(process, command, GRACE_S)) is None:
                break
            return code
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_S)
        watch(elapsed)
    raise PointFailed(
        f"a point did not end within {time.monotonic() - began:.0f} s",
        "check whether the target still answers, then run the same command again",
    )


def most_s(spec: PointSpec) -> float:
    """Return how long a point may take at the most, from the time that its workers are there."""
    measured_s = MOST_WINDOWS * spec.measure_s
    if spec.until is not None:
        measured_s = max(measured_s, spec.measure_s + spec.until.limit_s)
    # As long again is waited for operations of many steps.
    return spec.warmup_s + 2 * measured_s + spec.timeout_s + GRACE_S


def _ended(process: Forked, command: PointCommand, patience_s: float, hint: str = "") -> int | None:
    """Wait for the process and its clean-up; return its exit code, or None if it still runs.

    While clean-up is pending it waits; after that, for `patience_s` more.
    """
    began = last = time.monotonic()
    announced = False
    while time.monotonic() - last < patience_s:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(POLL_S)
        if (pending := command.pending_cleanup(process.pid)) is None:
            continue
        last = time.monotonic()
        if not announced and last - began > CLEANUP_NOTICE_S:
            announced = True
            print(f"{pending}{hint}", file=sys.stderr, flush=True)
    return None


def _end(process: Forked, command: PointCommand) -> None:
    """Let Locust end in order, so that added people are removed; then kill it."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        _ended(process, command, GRACE_S / 4, LEAVES)
    finally:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S / 4)
