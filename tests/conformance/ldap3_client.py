"""ldap3 as the independent client: connections with all checks, and connections without any."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ldap3 import ALL, ASYNC, NONE, SYNC, Connection, Server

from tests.conformance.served import Served


class Clients:
    """Connections of one test, closed at its end, however it ends.

    ldap3's stubs leave half of a connection's methods untyped, hence Any.
    """

    def __init__(self) -> None:
        self._open: list[Any] = []

    def checking(self, server: Served, *, asynchronous: bool = False) -> Any:
        """Return an administrator's connection that checks requests against the schema."""
        return self._kept(
            Connection(
                Server(server.host, server.port, get_info=ALL, connect_timeout=10),
                user=server.admin_dn,
                password=server.admin_password,
                client_strategy=ASYNC if asynchronous else SYNC,
                check_names=True,
                # With a timeout ldap3's receiving thread continues after its socket is closed, and
                # occupies a core until the test process ends.
                receive_timeout=None if asynchronous else 30,
            )
        )

    def raw(self, server: Served, *, anonymous: bool = False, version: int = 3) -> Any:
        """Return a connection that sends requests and returns answers unchecked."""
        who: Any = {}
        if not anonymous:
            who = {"user": server.admin_dn, "password": server.admin_password}
        return self._kept(
            Connection(
                Server(server.host, server.port, get_info=NONE, connect_timeout=10),
                version=version,
                check_names=False,
                receive_timeout=30,
                **who,
            )
        )

    def _kept(self, connection: Any) -> Any:
        self._open.append(connection)
        connection.bind()
        assert connection.bound, connection.result
        return connection

    def close(self) -> None:
        """Unbind all open connections."""
        for connection in self._open:
            receiver = getattr(connection.strategy, "receiver", None)
            connection.unbind()
            if receiver is not None:
                receiver.join(10)
                assert not receiver.is_alive(), "ldap3 still reads from a closed connection"


@contextmanager
def ldap3_clients() -> Iterator[Clients]:
    """Return clients that are closed at the end."""
    clients = Clients()
    try:
        yield clients
    finally:
        clients.close()


def lowered(attributes: Mapping[str, list[bytes]]) -> dict[str, list[bytes]]:
    """Return attributes for a comparison: names in lower case, values sorted."""
    return {name.lower(): sorted(values) for name, values in attributes.items()}


def entries(connection: Any) -> list[tuple[str, dict[str, list[bytes]]]]:
    """Return the entries of the last search: DN and values as received bytes."""
    return [
        (each["dn"], dict(each["raw_attributes"]))
        for each in connection.response
        if each["type"] == "searchResEntry"
    ]
