"""The process that listens at an address of this machine, and the network interface to it."""

import os
import socket
from collections.abc import Iterator

import pytest

from sitebench.errors import NotPossible
from sitebench.monitor.reached import interface_to, listener
from sitebench.system.namespace import remote_host
from sitebench.system.network import free_port
from tests.faults.groups import unavailable
from tests.support.actor import Actor, acting

LISTEN = """
import os, socket
server = socket.create_server(({host!r}, 0), family={family}, dualstack_ipv6={dual})
child = os.fork()
if child == 0:
    import signal
    signal.pause()
result = server.getsockname()[1]
"""


@pytest.fixture
def actor() -> Iterator[Actor]:
    with acting() as made:
        yield made
        made.do("os.kill(child, 9)")


@pytest.mark.parametrize(
    ("listens", "asked"),
    [("127.0.0.1", "127.0.0.1"), ("", "127.0.0.7"), ("::", "127.0.0.1"), ("::1", "::1")],
)
def test_server_process_is_the_parent_of_its_workers(
    actor: Actor, listens: str, asked: str
) -> None:
    six = ":" in listens
    family = int(socket.AF_INET6 if six else socket.AF_INET)
    port = int(actor.do(LISTEN.format(host=listens, family=family, dual=listens == "::")))
    # Its connections are listed with it, also ended ones.
    with socket.create_connection((asked, port)):
        socket.create_connection((asked, port)).close()
        assert listener(asked, port) == actor.pid


def test_port_without_listener_has_no_process() -> None:
    assert listener("127.0.0.1", free_port()) is None
    assert listener("nobody.invalid", 389) is None


def test_this_process_is_never_the_target() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listener(*server.getsockname()) is None


def test_interface_is_that_of_the_route_to_the_target() -> None:
    assert interface_to("127.0.0.1", 1) == interface_to("127.3.2.1", 1) == "lo"
    try:
        with remote_host() as there:
            assert interface_to(there.own_address, 1) == "lo"
            found = interface_to(there.address, 1)
    except NotPossible as error:
        unavailable(str(error))
    assert found is not None
    assert found.startswith(f"sb{os.getpid()}")
