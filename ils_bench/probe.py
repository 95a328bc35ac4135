"""Is a directory there, does it speak LDAP, does it know us and the base? One question each.

ldap3 asks, so that what is wrong with a target is found by another implementation than ours,
and said in one line before any load is made.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ils_bench.errors import WrongBase
from sitebench.diagnosis import PORTS_REMEDY
from sitebench.errors import (
    BadInput,
    OutOfPorts,
    TargetTalksNonsense,
    TargetUnreachable,
    UnknownValue,
    WrongPassword,
)

ANSWER_S = 5
"""Whole seconds: ldap3 gives them to the kernel as they are."""
NO_SUCH_OBJECT, INVALID_CREDENTIALS = 32, 49
SAYS_OF_ITSELF = ["vendorName", "vendorVersion", "supportedLDAPVersion", "objectClass"]
"""The last tells OpenLDAP, which gives no vendor."""
_NOT_AUTHENTICATED = {8, 48, INVALID_CREDENTIALS, 53}
"""Results of a bind that mean: not with these credentials (strongerAuthRequired,
inappropriateAuthentication, invalidCredentials, unwillingToPerform)."""


@dataclass(frozen=True)
class Address:
    """Where a directory listens."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ldap://{host}:{self.port}"


def parse_address(url: str) -> Address:
    """Read ldap://host:port; the port is 389 unless given."""
    remedy = "write embedded, openldap, or an address such as ldap://127.0.0.1:389"
    parts = urlsplit(url)
    if parts.scheme == "ldaps":
        raise UnknownValue(f"target {url!r} asks for TLS, which lanes do not speak", remedy)
    try:
        port = parts.port or 389
    except ValueError:
        raise UnknownValue(f"target {url!r} has no valid port", remedy) from None
    if parts.scheme != "ldap" or not parts.hostname:
        raise UnknownValue(f"unknown target {url!r}", remedy)
    return Address(parts.hostname, port)


def probe(address: Address, base: str | None, bind_dn: str | None, password: str | None) -> None:
    """Raise what is wrong with a directory; return when nothing is."""
    with connected(address, bind_dn, password) as connection:
        if base is not None and not exists(connection, base):
            raise WrongBase(
                f"{address} has no entry {base!r}",
                "name the DN that holds the people with --base, or make it with "
                "`sitebench ils seed`",
            )


@contextlib.contextmanager
def connected(address: Address, bind_dn: str | None, password: str | None) -> Any:
    """Yield a bound ldap3 connection."""
    _reach(address)
    import ldap3
    from ldap3.core.exceptions import LDAPException

    server = ldap3.Server(address.host, address.port, get_info=ldap3.NONE, connect_timeout=ANSWER_S)
    connection = ldap3.Connection(
        server, bind_dn, password, receive_timeout=ANSWER_S, check_names=False
    )
    try:
        bound = connection.bind()
    # A parser that meets bytes which are no LDAP may raise anything.
    except Exception as error:
        raise TargetTalksNonsense(
            f"{address} does not answer as an LDAP server does: {_short(error)}",
            "check host and port, and that it is plain LDAP",
        ) from error
    if not bound:
        _refused(address, bind_dn, connection.result)
    try:
        yield connection
    finally:
        with contextlib.suppress(LDAPException, OSError):
            connection.unbind()


def _reach(address: Address) -> None:
    try:
        socket.create_connection((address.host, address.port), ANSWER_S).close()
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise OutOfPorts(f"no local port is left to reach {address}", PORTS_REMEDY) from error
        raise TargetUnreachable(
            f"nothing answers at {address}: {error.strerror or error}",
            "check host and port, and that the directory is running",
        ) from error


def _refused(address: Address, bind_dn: str | None, result: dict[str, Any]) -> None:
    who = f"{bind_dn!r}" if bind_dn else "anonymous clients"
    if result["result"] in _NOT_AUTHENTICATED:
        raise WrongPassword(
            f"{address} refuses the bind of {who}: {result['description']}",
            "check --bind-dn, and the password in --password-file or $SITEBENCH_BIND_PASSWORD",
        )
    raise BadInput(
        f"{address} refuses the bind of {who}: {result['description']}",
        "look into the directory's log",
    )


def exists(connection: Any, dn: str) -> bool:
    """Return whether an entry is there."""
    import ldap3

    connection.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["1.1"])
    return bool(connection.result["result"] == 0 and connection.response)


def root_dse(address: Address, bind_dn: str | None, password: str | None) -> dict[str, Any]:
    """Return what a directory says of itself, per RFC 4512 5.1 and RFC 3045; it may say nothing."""
    import ldap3

    with connected(address, bind_dn, password) as connection:
        connection.search("", "(objectClass=*)", ldap3.BASE, attributes=SAYS_OF_ITSELF)
        found = connection.response[0]["raw_attributes"] if connection.response else {}
    return {
        name: ", ".join(value.decode(errors="replace") for value in found[name])
        for name in SAYS_OF_ITSELF
        if found.get(name)
    }


def _short(error: BaseException) -> str:
    text = str(error).splitlines()
    return text[0][:120] if text else type(error).__name__
