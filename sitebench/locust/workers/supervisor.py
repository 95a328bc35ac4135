"""`sitebench worker`: keeps Locust workers waiting for masters, one after the other.

A master ends after its point, and its Locust workers end with it, so this process starts new
workers. It does not import Locust. When it ends, for whatever reason, its children end too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time

import msgspec

from sitebench.locust.workers.choice import environment
from sitebench.options.addresses import MasterAddress
from sitebench.system.child import of_this_parent
from sitebench.system.programs import python_module
from sitebench.system.scratch import scratch
from sitebench.system.secret import BIND_PASSWORD, KEY_PASSWORD, without_secrets
from sitebench.system.stop import Stop

_POLL_S = 0.1
_GRACE_S = 20.0
_SHORT_S = 1.0
"""A worker that ran for less time than this is restarted after a pause."""


class WorkerCommand(msgspec.Struct, frozen=True):
    """The command of workers: their master, their number, and their own options."""

    master: MasterAddress
    processes: int = 1
    client: str | None = None
    threads: int | None = None

    def argv(self) -> list[str]:
        return [
            *(*python_module("sitebench.locust.workers.process"), "-f", "-", "--worker"),
            *("--master-host", self.master.host, "--master-port", str(self.master.port)),
            *("--loglevel", "WARNING"),
        ]

    def environment(self, folder: str) -> dict[str, str]:
        """Return a worker's environment; Locust writes the locustfile to the temporary `folder`."""
        needed = without_secrets(os.environ, BIND_PASSWORD, KEY_PASSWORD)
        variables = {k: v for k, v in needed.items() if not k.startswith("LOCUST_")}
        variables |= environment(self.client, self.threads)
        return of_this_parent(variables | {"TMPDIR": folder})

    def start(self, folder: str) -> subprocess.Popen[bytes]:
        # A worker has its own process group, so Ctrl-C does not reach it: the parent lets it clean
        # up and end. All workers are in one session, as Linux divides cores among sessions. If each
        # had its own session, two workers would have twice the share of one process with two
        # threads, and would interrupt a target on this machine at every answer
        # (docs/decisions/0090).
        return subprocess.Popen(
            self.argv(), env=self.environment(folder), stdin=subprocess.DEVNULL, process_group=0
        )


class _WorkerProcess(msgspec.Struct):
    command: WorkerCommand
    folder: str
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0

    def keep_alive(self) -> None:
        ended = self.process is None or self.process.poll() is not None
        if ended and time.monotonic() - self.began > _SHORT_S:
            self.began = time.monotonic()
            self.process = self.command.start(self.folder)

    def terminate(self) -> None:
        """Let the worker send its last counts and end; a waiting worker ends at once."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def end(self, give_up: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, give_up - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def supervise(command: WorkerCommand, stopped: Stop) -> None:
    with scratch() as folder:
        workers = []
        for n in range(command.processes):
            worker_folder = folder / str(n)
            worker_folder.mkdir()
            workers.append(_WorkerProcess(command, str(worker_folder)))
        try:
            while not stopped.wait(_POLL_S):
                for worker in workers:
                    worker.keep_alive()
        finally:
            for worker in workers:
                worker.terminate()
            give_up = time.monotonic() + _GRACE_S
            for worker in workers:
                worker.end(give_up)
