"""Hosts across a network, on this machine."""

import contextlib
import itertools
import socket
import subprocess
import sys

import pytest

from sitebench.errors import NotPossible
from sitebench.system import namespace
from sitebench.system.namespace import remote_host
from tests.faults.groups import unavailable

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])))"


def test_concurrent_hosts_have_different_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also hosts of other programs: every 250th host had the same address."""
    monkeypatch.setattr(namespace, "_numbers", itertools.count(0, 250))
    with contextlib.ExitStack() as stack:
        try:
            first, second = (stack.enter_context(remote_host()) for _ in range(2))
        except NotPossible as error:
            unavailable(str(error))
        assert len({first.address, first.own_address, second.address, second.own_address}) == 4
        for host in (first, second):
            with socket.create_server((host.own_address, 0)) as server:
                to = (host.own_address, str(server.getsockname()[1]))
                subprocess.run([*host.before, sys.executable, "-c", CONNECT, *to], check=True)
                server.accept()[0].close()
