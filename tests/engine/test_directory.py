"""The embedded directory starts, answers on a real socket, counts and stops."""

import contextlib
import json
import socket
from collections.abc import Iterator

import ldap3
import pytest

from sitebench._engine import Directory, EngineError
from tests.support.people import BASE, small_population
from tests.support.waiting import eventually

PEOPLE = small_population(50)


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}", PEOPLE)
    yield serving
    serving.stop()


@contextlib.contextmanager
def connection(directory: Directory) -> Iterator[ldap3.Connection]:
    server = ldap3.Server("127.0.0.1", directory.port, get_info=ldap3.NONE)
    client = ldap3.Connection(server, auto_bind=True, check_names=False)
    try:
        yield client
    finally:
        client.unbind()


def test_directory_serves_its_people(directory: Directory) -> None:
    with connection(directory) as client:
        for i in (0, 7, 49):
            dn, attributes = PEOPLE.entry(i)
            client.search(BASE, f"(cn={PEOPLE.name(i)})", attributes=["*"])
            assert client.response is not None
            (found,) = client.response
            assert (found["dn"], found["raw_attributes"]) == (dn, attributes)


def test_people_beyond_the_size_of_the_directory_are_missing(directory: Directory) -> None:
    with connection(directory) as client:
        client.search(BASE, f"(cn={PEOPLE.name(50)})")
        assert client.response == []


def test_directory_counts_binds_searches_and_entries(directory: Directory) -> None:
    with connection(directory) as client:
        client.search(BASE, f"(cn={PEOPLE.name(0)})")
        client.search(BASE, f"(cn={PEOPLE.name(1)})")
    counts = {"binds": 1, "searches": 2, "entries_sent": 2}
    # The threads publish their counts in turns.
    assert eventually(lambda: counts.items() <= directory.stats().items())
    assert directory.stats()["entries"] == 50 + len(("o=Intranet", BASE))


def test_address_contains_the_listening_port(directory: Directory) -> None:
    assert directory.address == f"127.0.0.1:{directory.port}"
    socket.create_connection(("127.0.0.1", directory.port)).close()


def test_stopped_directory_refuses_connections_and_stop_is_idempotent() -> None:
    directory = Directory("{}")
    directory.stop()
    directory.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", directory.port))
    with pytest.raises(EngineError, match="stopped"):
        directory.stats()


def test_stopped_directory_closes_open_connections(directory: Directory) -> None:
    with connection(directory) as client:
        directory.stop()
        client.socket.settimeout(10)
        assert client.socket.recv(1) == b""


def test_port_in_use_is_named(directory: Directory) -> None:
    with pytest.raises(EngineError, match=f"{directory.port} is in use"):
        Directory(json.dumps({"port": directory.port}))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"height": 1}, "height"),
        ({"port": 70_000}, "70000"),
        ({"threads": 0}, "at least one thread"),
        ({"admin_dn": "cn=admin,o=Intranet"}, "no password"),
        ({"ldif": "/nowhere/people.ldif"}, r"/nowhere/people\.ldif"),
    ],
)
def test_wrong_configuration_is_refused(config: dict[str, object], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        Directory(json.dumps(config))


def test_no_error_message_contains_a_password() -> None:
    config = {"admin_dn": "nonsense", "admin_password": "s3cret"}
    with pytest.raises(EngineError) as refusal:
        Directory(json.dumps(config))
    assert "s3cret" not in str(refusal.value)
