"""The interface that leads to a target, and the process that listens at the target's address."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
from collections.abc import Iterator, Set
from pathlib import Path

import psutil

from sitebench.monitor import texts

LOOPBACK = "lo"
_LISTENS = "0A"
_ANY = ("0.0.0.0", "::")
_INIT = 1
"""Process 1 holds the sockets of programs that it starts at the first connection (systemd)."""


def interface_to(host: str, port: int) -> str | None:
    with contextlib.suppress(OSError):
        for family, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM):
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect(address)  # Sends no packet: the kernel chooses a route.
                own_address = str(probe.getsockname()[0])
            if own_address == address[0]:
                return LOOPBACK
            for name, addresses in psutil.net_if_addrs().items():
                if any(entry.address.partition("%")[0] == own_address for entry in addresses):
                    return name
    return None


def listener(host: str, port: int) -> int | None:
    """Return the local process that listens at an address; of several, their common ancestor.

    Return None if another machine has the address, or if the process is another user's or an
    ancestor of this process.
    """
    if interface_to(host, port) != LOOPBACK:
        return None
    addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, port)}
    for beside_connections in (False, True):
        rows = _listening(beside_connections)
        if sockets := {(host, inode) for host, bound, inode in rows if bound == port}:
            break
    exact = {inode for host, inode in sockets if host in addresses}
    return first_holder(exact or {inode for host, inode in sockets if host in _ANY})


def first_holder(inodes: Set[str]) -> int | None:
    """Return the process that has these sockets; of several processes, their common ancestor."""
    holders = {
        pid
        for pid in map(int, filter(str.isdigit, texts.names("/proc")))
        if not inodes.isdisjoint(sockets_of(pid))
    }
    if len(holders) > 1:
        holders.discard(_INIT)
    first = [pid for pid in holders if holders.isdisjoint(ancestors(pid))]
    if len(first) != 1 or first[0] in (os.getpid(), *ancestors(os.getpid())):
        return None
    return first[0]


def _listening(beside_connections: bool) -> Iterator[tuple[str, int, str]]:
    """Yield the address, the port and the inode of each listening socket.

    Linux lists them before connections (28,000 can be in TIME_WAIT); gVisor does not.
    """
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with contextlib.suppress(OSError), Path(f"/proc/self/net/{name}").open() as rows:
            for fields in map(str.split, itertools.islice(rows, 1, None)):
                if fields[3] != _LISTENS:
                    if beside_connections:
                        continue
                    break
                address, _, port = fields[1].partition(":")
                # Words are in the machine's byte order: little-endian on x86-64 and aarch64.
                words = [
                    bytes.fromhex(address[word : word + 8])[::-1]
                    for word in range(0, len(address), 8)
                ]
                yield socket.inet_ntop(family, b"".join(words)), int(port, 16), fields[9]


def sockets_of(pid: int) -> Iterator[str]:
    """Yield the inodes of a process's sockets."""
    for name in texts.names(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            link = str(Path(f"/proc/{pid}/fd/{name}").readlink())
            if link.startswith("socket:["):
                yield link[len("socket:[") : -1]


def ancestors(pid: int) -> Iterator[int]:
    while (text := texts.read(f"/proc/{pid}/stat")) and (pid := texts.process_stat(text).parent):
        yield pid
