"""Lookups beside many logins with a slow hash: the CPU time that the logins add to a lookup."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

from benches.ils_messages import bind
from benches.ratios import Values
from ils_bench import sequences
from ils_bench.calibrate import running_engine
from ils_bench.options import IlsOptions
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.opening import open_target
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population
from sitebench.seeders.people import generate
from sitebench.system.machine import usable_cores

HASH = "argon2:64m"
CLIENTS = 16


def stormed(options: IlsOptions, lanes: int, seconds: float) -> Values:
    """Return the CPU of the directory's serving threads for a lookup, alone and beside the logins.

    The load runs alone before and after, so a drift of the machine affects both sides. The hashing
    threads are excluded: their CPU time is the logins' own. The effect of 64 MiB of hashing memory
    on the caches appears beside the same hashes in another process.
    """
    options = replace(options, profile="person", hash=HASH, hash_pool=1)
    with open_target(options, options.entries) as target:
        before = _cpu_us(options, target, lanes, seconds)
        people = generate(spec_of(options, options.entries)).population
        with _storm(target.address, people) as logins:
            beside = _cpu_us(options, target, lanes, seconds)
        alone = mean([before, _cpu_us(options, target, lanes, seconds)])
        with _hashing_elsewhere(options):
            elsewhere = _cpu_us(options, target, lanes, seconds)
    assert sum(logins) > 0, "no one logged in meanwhile"
    return {"beside": beside, "alone": alone, "elsewhere": elsewhere}


def _cpu_us(options: IlsOptions, target: OpenDirectory, lanes: int, seconds: float) -> float:
    assert target.pid is not None
    lookup = sequences.built_in("lookup", options.profile)
    with running_engine(options, target, lookup, lanes) as engine:
        engine.drain()
        used = _serving_ns(target.pid)
        time.sleep(seconds)
        used = _serving_ns(target.pid) - used
        done = next(each.count for each in engine.drain().steps if each.step == lookup.counts)
    return used / 1e3 / done


def _serving_ns(pid: int) -> int:
    """Return the CPU time of the serving threads by the scheduler's own count."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    serving = [each for each in tasks if (each / "comm").read_text().startswith("directory-")]
    return sum(int((each / "schedstat").read_text().split()[0]) for each in serving)


_HASH_ON = """
import sys
from sitebench._engine import Population
Population(*sys.argv[1:3]).make_hashes(int(sys.argv[3]))
"""


@contextlib.contextmanager
def _hashing_elsewhere(options: IlsOptions) -> Iterator[None]:
    """Have another process of lowest priority compute as many hashes as the directory checks."""
    people = generate(spec_of(replace(options, hash_pool=0), 1_000_000))
    threads = str(max(1, usable_cores() - 1))
    argv = [
        sys.executable,
        "-c",
        _HASH_ON,
        str(people.pools.path),
        people.population.spec_json,
        threads,
    ]
    process = subprocess.Popen(["nice", "-n", "19", *argv])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _storm(address: DirectoryAddress, people: Population) -> Iterator[list[int]]:
    """Keep clients logging in without a pause; yield the number of logins of each client."""
    over, logins = threading.Event(), [0] * CLIENTS
    message = bind(people.dn(0), people.password(0))

    def log_in(client: int) -> None:
        with socket.create_connection((address.host, address.port)) as connection:
            while not over.is_set():
                connection.sendall(message)
                # The resultCode 0 of a BindResponse, at a fixed position because its texts are
                # empty.
                assert connection.recv(100)[9] == 0
                logins[client] += 1

    threads = [threading.Thread(target=log_in, args=(client,)) for client in range(CLIENTS)]
    for each in threads:
        each.start()
    try:
        yield logins
    finally:
        over.set()
        for each in threads:
            each.join()
