"""Workers as `sitebench worker` runs them, forked from a process that has imported Locust.

The supervisor runs here, in a thread. The command's own start, and the process names of
both, are tested with real workers: `tests.distributed.masters.worker`.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from sitebench.locust.workers.supervisor import WorkerCommand, supervise
from sitebench.options.addresses import MasterAddress
from sitebench.system.stop import Stop
from tests.support.fork_server import Forked


class Workers(WorkerCommand, frozen=True, kw_only=True):
    """Options of the workers, and the started workers."""

    cwd: Path
    log: Path
    """Their output."""
    network: str
    """Their network namespace, if it is another."""
    first: str
    """Code that runs in a worker's process before the worker."""
    env: Mapping[str, str]
    started: list[Forked] = msgspec.field(default_factory=list)

    def start(self, folder: str) -> Forked:  # type: ignore[override]
        python, *flags, module = self.argv()[:4]
        assert (python, flags) == (sys.executable, ["-P", "-m"])
        with self.log.open("ab") as log:
            made = Forked(
                "tests.support.preloaded:worker",
                [self.first, self.network, module, *self.argv()[4:]],
                output=log.fileno(),
                environment={**self.environment(folder), **self.env},
                folder=self.cwd,
            )
        self.started.append(made)
        return made


@contextlib.contextmanager
def forked_workers(
    cwd: Path,
    master: str,
    *,
    processes: int = 1,
    client: str | None = None,
    threads: int | None = None,
    network: str = "",
    first: str = "",
    env: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Workers]:
    """Start this many workers that wait for masters, in a folder."""
    where = MasterAddress.parse(master)
    log = cwd / "workers.log"
    made = Workers(
        where, processes, client, threads, cwd=cwd, log=log, network=network, first=first, env=env
    )
    stopped = Stop()
    supervising = threading.Thread(target=supervise, args=(made, stopped))
    supervising.start()
    try:
        yield made
    finally:
        stopped.set()
        supervising.join()
        stopped.close()
        print(log.read_text() if log.exists() else "")  # Shown where the test fails.
