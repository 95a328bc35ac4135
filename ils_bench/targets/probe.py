"""Probing a directory: whether it listens, speaks LDAP, accepts the bind and has the base.

ldap3 asks, so that an implementation other than the engine finds what is wrong with a target, and
reports it in one line before any load is made.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
from typing import Any

import ldap3
from ldap3.core.exceptions import LDAPException

from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.identity import ANONYMOUS, Identity
from sitebench.errors import (
    BadInput,
    OutOfPorts,
    TargetTalksNonsense,
    TargetUnreachable,
    WrongPassword,
    printable,
)
from sitebench.measure.diagnosis import PORTS_REMEDY
from sitebench.targets.tls import SYSTEM, Trust, short, tls_failed

_LANGUAGES = {"ldap": "plain LDAP, not ldaps", "ldaps": "ldaps", START_TLS: "StartTLS"}
_ANSWER_S = 5
"""Whole seconds: ldap3 passes them to the kernel unchanged."""
_SUCCESS, _NO_SUCH_OBJECT, _INVALID_CREDENTIALS = 0, 32, 49
_ROOT_DSE_ATTRIBUTES = ["vendorName", "vendorVersion", "supportedLDAPVersion", "objectClass"]
"""The last identifies OpenLDAP, which gives no vendor."""
_NOT_AUTHENTICATED = {8, 48, _INVALID_CREDENTIALS, 53}
"""Results of a bind that mean: not with these credentials (strongerAuthRequired,
inappropriateAuthentication, invalidCredentials, unwillingToPerform)."""


class WrongBase(BadInput):
    """The base DN is not in the target."""


def probe(
    address: DirectoryAddress,
    base: str | None,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> None:
    """Raise what is wrong with a directory; return when nothing is."""
    with connected(address, who, trust) as connection:
        if base is not None and not exists(connection, base):
            code, words, more = (connection.result[k] for k in ("result", "description", "message"))
            if code not in (_SUCCESS, _NO_SUCH_OBJECT):
                raise BadInput(
                    f"{address} does not show {base!r}: {words} {more}".rstrip(),
                    "bind as a user who may read it, with --bind-dn and --password-file",
                )
            raise WrongBase(
                f"{address} has no entry {base!r}",
                "name the DN that holds the people with --base, or make it with "
                "`sitebench ils seed`",
            )


class _Tls(ldap3.Tls):
    """ldap3's own knows no addresses in certificates."""

    def __init__(self, trust: Trust) -> None:
        super().__init__(validate=ssl.CERT_NONE if trust.insecure else ssl.CERT_REQUIRED)
        self._context = trust.context()

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        connection.socket = self._context.wrap_socket(
            connection.socket, server_hostname=connection.server.host
        )


def server_of(address: DirectoryAddress, trust: Trust, connect_timeout_s: float) -> ldap3.Server:
    """Return a directory as ldap3 addresses it."""
    return ldap3.Server(
        address.host,
        address.port,
        use_ssl=address.scheme == "ldaps",
        tls=None if address.scheme == "ldap" else _Tls(trust),
        get_info=ldap3.NONE,
        # Else it would follow referrals to any machine, to write there, with our password.
        allowed_referral_hosts=[],
        connect_timeout=connect_timeout_s,
    )


def opened(connection: Any, address: DirectoryAddress) -> None:
    """Open an ldap3 connection, with StartTLS where the address asks for it."""
    connection.open(read_server_info=False)
    if address.start_tls and not connection.start_tls(read_server_info=False):
        raise ConnectionError("it refuses StartTLS")


@contextlib.contextmanager
def connected(
    address: DirectoryAddress,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> Any:
    _reach(address)
    server = server_of(address, trust, _ANSWER_S)
    connection = ldap3.Connection(
        server, receive_timeout=_ANSWER_S, check_names=False, **who.to_ldap3()
    )
    try:
        try:
            opened(connection, address)
            bound = connection.bind(read_server_info=False)
        # ldap3's parser may raise anything on bytes that are not LDAP.
        except Exception as error:
            raise tls_failed(address, error) or TargetTalksNonsense(
                f"{address} does not answer as an LDAP server does: {short(error)}",
                f"check host and port, and that it speaks {_LANGUAGES[address.scheme]}",
            ) from error
        if not bound:
            _refused(address, who, connection.result)
        yield connection
    finally:
        with contextlib.suppress(LDAPException, OSError):
            connection.unbind()


def _reach(address: DirectoryAddress) -> None:
    try:
        socket.create_connection((address.host, address.port), _ANSWER_S).close()
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise OutOfPorts(f"no local port is left to reach {address}", PORTS_REMEDY) from error
        raise TargetUnreachable(
            f"nothing answers at {address}: {error.strerror or error}",
            "check host and port, and that the directory is running",
        ) from error


def _refused(address: DirectoryAddress, who: Identity, result: dict[str, Any]) -> None:
    if result["result"] in _NOT_AUTHENTICATED:
        raise WrongPassword(
            f"{address} refuses the bind of {who}: {result['description']}",
            "check --bind-dn, and the password in --password-file or $SITEBENCH_BIND_PASSWORD",
        )
    raise BadInput(
        f"{address} refuses the bind of {who}: {result['description']}",
        "see the directory's log",
    )


def exists(connection: Any, dn: str) -> bool:
    connection.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["1.1"])
    return bool(connection.result["result"] == 0 and connection.response)


def lacks(connection: Any, base: str, filter_: str) -> bool:
    """Return whether the directory answers that it has no such entry; not that it does not tell."""
    try:
        connection.search(base, filter_, ldap3.SUBTREE, attributes=["1.1"], size_limit=1)
    except LDAPException:
        return False
    entries = [each for each in connection.response or () if each["type"] == "searchResEntry"]
    return bool(connection.result["result"] == _SUCCESS and not entries)


def root_dse(
    address: DirectoryAddress,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> dict[str, Any]:
    """Return the root DSE's vendor, version and classes, if any (RFC 4512 5.1, RFC 3045)."""
    with connected(address, who, trust) as connection:
        connection.search("", "(objectClass=*)", ldap3.BASE, attributes=_ROOT_DSE_ATTRIBUTES)
        found = connection.response[0]["raw_attributes"] if connection.response else {}
    return {
        name: printable(", ".join(value.decode(errors="replace") for value in found[name]))
        for name in _ROOT_DSE_ATTRIBUTES
        if found.get(name)
    }
