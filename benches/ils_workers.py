"""The cost of distributing a test: two workers compared with one process with two threads.

Both look people up in a directory of a thousand that answers from memory, in a network namespace of
its own: a responder across a network that shares the machine's cores. The directory has two threads
so that the cores are the limit, not the directory; the cost of the master and of another process
is missing from the rate. Lanes stay connected: across a network local ports would run out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from benches.bench import measured
from benches.ratios import Values
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.people import spec_of, suffix_of
from ils_bench.targets.target import OpenDirectory
from sitebench.locust.workers.supervisor import WorkerCommand, supervise
from sitebench.options.addresses import MasterAddress
from sitebench.system.child import Child
from sitebench.system.namespace import remote_host
from sitebench.system.network import free_port
from sitebench.system.stop import Stop

ENTRIES = 1_000
THREADS = 2
WARMUP_S = 1.0


LOCUSTFILE = Path(__file__).with_name("locustfile.py")
"""Lookups over persistent connections."""


def workers_and_threads(stack: ExitStack, lanes: int, seconds: float) -> Values:
    """Measure workers and threads, one after the other."""
    rate = _ground(stack, lanes, seconds)
    return {"one": rate(None), "two": rate(THREADS)}


@cache
def _ground(stack: ExitStack, lanes: int, seconds: float) -> Callable[[int | None], float]:
    """Start the directory and the workers; return the measurement for a number of workers."""
    host = stack.enter_context(remote_host())
    master = MasterAddress("127.0.0.1", free_port())
    options = IlsOptions(
        entries=ENTRIES,
        target_threads=THREADS,
        target_host=host.address,
        users=lanes,
        warmup=WARMUP_S,
        measure=seconds,
        threads=THREADS,
        bind=master,
    )
    people = spec_of(options, ENTRIES)
    config = {"host": host.address, "port": 0, "threads": THREADS}
    config |= {"suffix": suffix_of(options.base), "profile": options.profile}
    request = {"config": config, "people": people.to_dict()}
    child = Child("ils_bench.targets.embedded", request, before=host.before)
    stack.callback(child.stop)
    address = DirectoryAddress(host.address, child.ready["port"])
    target = OpenDirectory(
        "embedded", address, people.base, pid=child.pid, cores=THREADS, disposable=True
    )
    stack.enter_context(_working(WorkerCommand(master, processes=THREADS, threads=1)))

    def rate(workers: int | None) -> float:
        with_workers = replace(options, workers=workers)
        test = POINTS.test(with_workers, "lookup").at(target)
        test = replace(test, locustfile=LOCUSTFILE, user_classes=("KeptUser",))
        return measured(test).ops_per_s

    return rate


@contextmanager
def _working(command: WorkerCommand) -> Iterator[None]:
    stopped = Stop()
    thread = threading.Thread(target=supervise, args=(command, stopped))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
