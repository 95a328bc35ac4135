"""The programs of this machine behind a target, such as the servers behind a proxy.

docs/monitor.md describes the search, which only root can make among processes of other users.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Set

from sitebench.monitor.process import ProcessReader
from sitebench.monitor.reached import ancestors, first_holder, listener, sockets_of
from sitebench.monitor.sample import BehindSample
from sitebench.monitor.sock_diag import LISTEN, UnixSocket, tcp_sockets, unix_sockets
from sitebench.monitor.texts import read

_BUDGET = 0.01
"""Share of a core that the search may take; with many processes the search runs less often."""

_THIS_MACHINE = ("127.", "::1", "::ffff:127.")


class Program:
    """A program behind a target: its first process and all descendants."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.name = (read(f"/proc/{pid}/comm") or f"process {pid}").strip()
        self._reader = ProcessReader(pid, family=True)
        first = self._reader.read()
        self._found_cpu_s = 0.0 if first is None else first.cpu_s

    def sample(self) -> BehindSample | None:
        """Return the CPU time so far; None if the program has ended."""
        now = self._reader.read()
        if now is None:
            return None
        return BehindSample(self.pid, self.name, now.cpu_s, self._found_cpu_s)


class Behind:
    """Searches for the programs behind a target, and remembers them."""

    def __init__(self, target: ProcessReader) -> None:
        self._target = target
        self._called: set[tuple[str, int] | bytes] = set()
        self._programs: dict[int, Program] = {}
        self._not_before = 0.0

    def look(self) -> tuple[Program, ...]:
        """Search the target's connections, as often as `_BUDGET` allows."""
        if time.monotonic() >= self._not_before:
            began_s = time.thread_time()
            self._look()
            self._not_before = time.monotonic() + (time.thread_time() - began_s) / _BUDGET
        return tuple(self._programs.values())

    def _look(self) -> None:
        inodes = {int(inode) for pid in self._target.pids for inode in sockets_of(pid)}
        for address in _addresses_called(inodes) - self._called:
            self._called.add(address)
            self._add(listener(*address))
        unix = {sock.inode: sock for sock in unix_sockets()}
        for name in _names_called(inodes, unix) - self._called:
            self._called.add(name)
            listening = (sock for sock in unix.values() if sock.state == LISTEN)
            self._add(first_holder({str(sock.inode) for sock in listening if sock.name == name}))

    def _add(self, pid: int | None) -> None:
        """Add a process, unless it belongs to the target or is an ancestor of the target."""
        target_pids = {*self._target.pids, *ancestors(self._target.pid)}
        if pid is not None and pid not in target_pids and pid not in self._programs:
            self._programs[pid] = Program(pid)


def _addresses_called(inodes: Set[int]) -> set[tuple[str, int]]:
    """Return the addresses of this machine to which the sockets `inodes` opened connections."""
    sockets = [sock for sock in tcp_sockets() if sock.inode in inodes]
    listening = {sock.port for sock in sockets if sock.state == LISTEN}
    return {
        (sock.peer_address, sock.peer_port)
        for sock in sockets
        if sock.port not in listening
        and (sock.peer_address == sock.address or sock.peer_address.startswith(_THIS_MACHINE))
    }


def _names_called(inodes: Set[int], unix: Mapping[int, UnixSocket]) -> set[bytes]:
    unnamed = (sock for inode, sock in unix.items() if inode in inodes and not sock.name)
    peers = (unix.get(sock.peer) for sock in unnamed)
    return {peer.name for peer in peers if peer is not None and peer.name}
