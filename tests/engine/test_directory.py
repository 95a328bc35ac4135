"""The embedded directory starts, names its port, and stops."""

import json
import socket
from collections.abc import Iterator

import pytest

from sitebench._engine import Directory, EngineError


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}")
    yield serving
    serving.stop()


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


def test_port_in_use_is_named(directory: Directory) -> None:
    with pytest.raises(EngineError, match=f"{directory.port} is in use"):
        Directory(json.dumps({"port": directory.port}))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"height": 1}, "height"),
        ({"port": 70_000}, "70000"),
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
