"""Is a directory there, does it speak LDAP, does it know us and the base? One question each.

ldap3 asks, so that what is wrong with a target is found by another implementation than ours,
and said in one line before any load is made.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ils_bench.errors import WrongBase
from ils_bench.targets.identity import ANONYMOUS, Identity
from sitebench.errors import (
    BadInput,
    OutOfPorts,
    TargetTalksNonsense,
    TargetUnreachable,
    UnknownValue,
    WrongPassword,
)
from sitebench.measure.diagnosis import PORTS_REMEDY
from sitebench.system import secret
from sitebench.targets.tls import SYSTEM, Trust, tls_failed

START_TLS = "ldap+tls"
_PORTS = {"ldap": 389, "ldaps": 636}
_LANGUAGES = {"ldap": "plain LDAP, not ldaps", "ldaps": "ldaps", START_TLS: "StartTLS"}
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
    scheme: str = "ldap"
    """ldaps begins with TLS; ldap+tls begins in the clear and asks for it (StartTLS)."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme.partition('+')[0]}://{host}:{self.port}"

    @property
    def start_tls(self) -> bool:
        """Whether TLS is asked for after connecting."""
        return self.scheme == START_TLS

    def engine_tls(self, trust: Trust) -> dict[str, Any] | None:
        """Return how the engine is to speak TLS with it, if it is to."""
        if self.scheme == "ldap":
            return None
        return {"trust": trust.to_engine(), "start": self.start_tls}


def scheme_of(tls: Mapping[str, Any] | None) -> str:
    """Return how an embedded directory is addressed, by its configuration."""
    if tls is None:
        return "ldap"
    return START_TLS if tls["start"] else "ldaps"


def parse_address(url: str, *, start_tls: bool = False) -> Address:
    """Read ldap://host:port or ldaps://host:port; the port is 389 or 636 unless given."""
    remedy = "write embedded, openldap, or an address such as ldap://127.0.0.1:389"
    try:
        parts = urlsplit(secret.address(url))
        port = parts.port
    except ValueError:
        raise UnknownValue(f"target {url!r} has no valid port", remedy) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UnknownValue(f"unknown target {url!r}", remedy)
    if start_tls and parts.scheme == "ldaps":
        raise BadInput(
            f"target {url!r} begins with TLS, and --start-tls asks for it later",
            "leave out --start-tls, or write ldap://",
        )
    scheme = START_TLS if start_tls else parts.scheme
    return Address(parts.hostname, port or _PORTS[parts.scheme], scheme)


def probe(
    address: Address,
    base: str | None,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> None:
    """Raise what is wrong with a directory; return when nothing is."""
    with connected(address, who, trust) as connection:
        if base is not None and not exists(connection, base):
            raise WrongBase(
                f"{address} has no entry {base!r}",
                "name the DN that holds the people with --base, or make it with "
                "`sitebench ils seed`",
            )


@contextlib.contextmanager
def connected(
    address: Address,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> Any:
    """Yield a bound ldap3 connection."""
    _reach(address)
    import ldap3
    from ldap3.core.exceptions import LDAPException

    from ils_bench.ldap3_tls import server_of

    server = server_of(address, trust, ANSWER_S)
    connection = ldap3.Connection(
        server, receive_timeout=ANSWER_S, check_names=False, **who.to_ldap3()
    )
    try:
        connection.open(read_server_info=False)
        if address.start_tls:
            connection.start_tls(read_server_info=False)
        bound = connection.bind(read_server_info=False)
    # A parser that meets bytes which are no LDAP may raise anything.
    except Exception as error:
        raise tls_failed(address, error) or TargetTalksNonsense(
            f"{address} does not answer as an LDAP server does: {_short(error)}",
            f"check host and port, and that it speaks {_LANGUAGES[address.scheme]}",
        ) from error
    if not bound:
        _refused(address, who, connection.result)
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


def _refused(address: Address, who: Identity, result: dict[str, Any]) -> None:
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


def root_dse(
    address: Address,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> dict[str, Any]:
    """Return what a directory says of itself, per RFC 4512 5.1 and RFC 3045; it may say nothing."""
    import ldap3

    with connected(address, who, trust) as connection:
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
