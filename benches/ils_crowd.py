"""A normal load beside a crowd of slow or silent clients: the speed that the crowd costs it."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import time
from collections.abc import Iterator
from functools import partial
from statistics import mean

import psutil

from benches.ratios import Skipped, Values
from ils_bench.calibrate import engine_alone
from ils_bench.options import IlsOptions
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.people import spec_of
from sitebench.errors import OutOfDescriptors
from sitebench.monitor.texts import PAGE, read
from sitebench.scenario.script import Script
from sitebench.system.limits import allow_descriptors

CLIENTS = 10_000
PATIENT_MS = 600_000
"""No client is cut off during the measurement; by default clients are cut off after 10 s."""
SETTLED_S, LOOK_S = 60.0, 0.5
SOCKETS = "/proc/net/sockstat"
WINDOW_BYTES = 4_096
"""The receive window of a client that does not read, so that its answers wait in the directory."""

NOTHING = b""
HALF_A_BIND = bytes.fromhex("300c0201016007")
EVERYBODY = bytes.fromhex(
    "302f020101632a040a6f3d496e7472616e65740a01020a01000201000201"
    "00010100870b6f626a656374436c6173733000"
)
"""Message 1: a search of the subtree of o=Intranet for (objectClass=*)."""


def crowded(options: IlsOptions, program: Script, seconds: float) -> Values | Skipped:
    """Return a program's figures alone and beside the crowd, and the memory of one client.

    The load runs alone before and after, so a drift of the machine affects both sides. If other
    programs use the machine, the rate mainly shows who got its cores; the directory's CPU time for
    a lookup shows the cost of the crowd.
    """
    try:
        allow_descriptors(CLIENTS + options.users)
    except OutOfDescriptors as error:
        return Skipped(error.message)
    limits = {"stall_ms": PATIENT_MS}
    target = open_embedded(options, spec_of(options, options.entries), limits=limits)
    with contextlib.ExitStack() as after:
        after.callback(target.close)
        process = psutil.Process(target.pid)
        load = partial(engine_alone, options, target, program, options.users, seconds)
        before = load()
        held = process.memory_info().rss + _kernel_bytes()
        with crowd(target.address, CLIENTS):
            _settle(process)
            beside = load()
            grown = process.memory_info().rss + _kernel_bytes() - held
        _settle(process)
        alone = [before, load()]
    return {
        "beside": beside["ops_per_s"],
        "alone": mean(each["ops_per_s"] for each in alone),
        "cpu_beside": beside["target_cpu_us"],
        "cpu_alone": mean(each["target_cpu_us"] for each in alone),
        "kib": grown / CLIENTS / 1024,
        "one": 1.0,
    }


def _kernel_bytes() -> int:
    """Return the kernel's memory for TCP buffers, on both sides of every connection."""
    found = re.search(r"^TCP: .* mem (\d+)$", read(SOCKETS) or "", re.MULTILINE)
    return int(found[1]) * PAGE if found is not None else 0


def _settle(process: psutil.Process) -> None:
    """Wait until the directory has sent all possible answers, so that only slow clients remain."""
    give_up = time.monotonic() + SETTLED_S
    while time.monotonic() < give_up:
        used = sum(process.cpu_times()[:2])
        time.sleep(LOOK_S)
        if sum(process.cpu_times()[:2]) - used <= LOOK_S / 20:
            return


@contextlib.contextmanager
def crowd(address: DirectoryAddress, count: int) -> Iterator[None]:
    """Keep clients connected: a third silent, a third within a message, a third not reading."""
    with contextlib.ExitStack() as stack:
        for _, said in zip(
            range(count), itertools.cycle((NOTHING, HALF_A_BIND, EVERYBODY)), strict=False
        ):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW_BYTES)
            client.connect((address.host, address.port))
            client.sendall(said)
        yield
