"""Probe of a directory: whether it listens, speaks LDAP, accepts the bind and has the base.

ldap3 sends the requests, so that an implementation independent of the engine checks a target before
the load.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import Any

import ldap3
from ldap3.core.exceptions import LDAPException

from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.identity import ANONYMOUS, Identity
from ils_bench.targets.reading import AnswerLimits, NonsenseError, limited_connection
from sitebench.errors import (
    BadInput,
    SitebenchError,
    TargetTalksNonsense,
    WrongPassword,
    printable,
)
from sitebench.measure.diagnosis import unreachable
from sitebench.seeders import DEFAULT_BASE
from sitebench.targets.deadline import Deadline
from sitebench.targets.tls import SYSTEM, Trust, short, tls_failed

_Watch = Callable[[socket.socket], None]
_LANGUAGES = {"ldap": "plain LDAP, not ldaps", "ldaps": "ldaps", START_TLS: "StartTLS"}
WHOLE_S = 10.0
"""Time limit of a whole probe, or of a whole answer."""
_SILENCE_S = 5.0
"""Time limit between two bytes."""
_SUCCESS, _NO_SUCH_OBJECT, _INVALID_CREDENTIALS = 0, 32, 49
_ROOT_DSE_ATTRIBUTES = [
    "vendorName",
    "vendorVersion",
    "supportedLDAPVersion",
    "objectClass",
    "supportedCapabilities",
]
"""The last two attributes identify OpenLDAP and Active Directory, which have no vendorName."""
_NOT_AUTHENTICATED = {8, 48, _INVALID_CREDENTIALS, 53}
"""Results of a bind with wrong credentials: strongerAuthRequired, inappropriateAuthentication,
invalidCredentials, unwillingToPerform."""


class WrongBase(BadInput):
    """The base DN is not in the target."""


class HiddenBase(BadInput):
    """The target hides its base DN from this identity."""


def probe(
    address: DirectoryAddress, base: str | None, who: Identity = ANONYMOUS, trust: Trust = SYSTEM
) -> None:
    with connect(address, who, trust, brief=True) as connection:
        if base is not None and not exists(connection, base):
            keys = ("result", "description", "message")
            code, words, detail = (connection.result[key] for key in keys)
            if code not in (_SUCCESS, _NO_SUCH_OBJECT):
                raise HiddenBase(
                    f"{address} does not show {base!r}: {words} {detail}".rstrip(),
                    "bind as a user who may read it, with --bind-dn and --password-file",
                )
            default = " (the default of --base)" * (base == DEFAULT_BASE)
            below = ", ".join(map(repr, _naming_contexts(connection))) or "a suffix of its own"
            raise WrongBase(
                *missing(
                    *(address, who, f"entry {base!r}{default}"),
                    f"name the DN that holds the people, below {below}, with --base or in the "
                    "address (ldap://HOST/DN), or make it with `sitebench ils seed`",
                )
            )


def missing(address: DirectoryAddress, who: Identity, entry: str, remedy: str) -> tuple[str, str]:
    """Return message and remedy for an entry that is missing, or hidden from anonymous users."""
    if who == ANONYMOUS:
        entry += ", or does not show it to anonymous users"
        remedy = f"bind as a user who may read it (--bind-dn); or {remedy}"
    return f"{address} has no {entry}", remedy


def _naming_contexts(connection: Any) -> list[str]:
    """Return the suffixes in the root DSE (RFC 4512 5.1)."""
    names = read(connection, "", "namingContexts").get("namingContexts", ())
    return [printable(name.decode(errors="replace")) for name in names]


class _Tls(ldap3.Tls):
    """TLS with addresses in certificates, which ldap3 itself does not compare."""

    def __init__(self, trust: Trust, watch: _Watch) -> None:
        super().__init__(validate=ssl.CERT_NONE if trust.insecure else ssl.CERT_REQUIRED)
        self._context, self._watch = trust.context(), watch

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        self._watch(connection.socket)
        connection.socket = self._context.wrap_socket(
            connection.socket, server_hostname=connection.server.host
        )


def server_of(
    address: DirectoryAddress,
    trust: Trust,
    connect_timeout_s: float,
    watch: _Watch = lambda _: None,
) -> ldap3.Server:
    """Return a directory for ldap3; `watch` gets each connection before its TLS handshake."""
    return ldap3.Server(
        address.host,
        address.port,
        use_ssl=address.scheme == "ldaps",
        tls=None if address.scheme == "ldap" else _Tls(trust, watch),
        get_info=ldap3.NONE,
        connect_timeout=connect_timeout_s,
    )


def open_connection(connection: Any, address: DirectoryAddress) -> None:
    connection.open(read_server_info=False)
    if address.start_tls and not connection.start_tls(read_server_info=False):
        raise ConnectionError("it refuses StartTLS")


@contextlib.contextmanager
def connect(
    address: DirectoryAddress,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
    *,
    brief: bool = False,
    whole_s: float | None = None,
) -> Any:
    """Yield a bound connection of ldap3 that reads within limits.

    `whole_s` limits each answer, or with `brief` all requests together. The default is WHOLE_S.
    """
    with contextlib.ExitStack() as end:
        deadline = end.enter_context(Deadline(WHOLE_S if whole_s is None else whole_s))
        _reach(address, deadline)
        limits = AnswerLimits(min(_SILENCE_S, deadline.seconds), deadline.seconds)
        server = server_of(address, trust, limits.silence_s, deadline.watch)
        connection = limited_connection(server, limits, lambda: deadline.is_over, **who.to_ldap3())
        try:
            try:
                open_connection(connection, address)
                deadline.watch(connection.socket)
                bound = connection.bind(read_server_info=False)
            # ldap3 raises its own errors and errors of other libraries.
            except Exception as error:
                raise _nonsense(address, error, deadline) from error
            if not bound:
                _refuse(address, who, connection.result)
            if not brief:
                end.close()
            try:
                yield connection
            except (LDAPException, NonsenseError) as error:
                raise _nonsense(address, error, deadline) from error
            if deadline.is_over:
                raise _nonsense(address, None, deadline)
        finally:
            with contextlib.suppress(LDAPException, OSError):
                connection.unbind()
            # ldap3 leaves a broken connection open.
            connection.strategy.close()


def _nonsense(
    address: DirectoryAddress, error: Exception | None, deadline: Deadline
) -> SitebenchError:
    if error is None or deadline.is_over:
        reason = f"its answers take longer than {deadline.seconds:g} s"
    elif (failed := tls_failed(address, error)) is not None:
        return failed
    else:
        reason = short(error)
    return TargetTalksNonsense(
        f"{address} does not answer as an LDAP server does: {reason}",
        f"check host and port, and that it speaks {_LANGUAGES[address.scheme]}",
    )


def _reach(address: DirectoryAddress, deadline: Deadline) -> None:
    try:
        place = (address.host, address.port)
        socket.create_connection(place, deadline.remaining(_SILENCE_S)).close()
    except OSError as error:
        raise unreachable(address, error, "directory") from error


def _refuse(address: DirectoryAddress, who: Identity, result: dict[str, Any]) -> None:
    if result["result"] in _NOT_AUTHENTICATED:
        raise WrongPassword(
            f"{address} refuses the bind of {who}: {result['description']}",
            "check --bind-dn, and --password-file or $SITEBENCH_BIND_PASSWORD",
        )
    raise BadInput(
        f"{address} refuses the bind of {who}: {result['description']}", "see the directory's log"
    )


def refusal(
    address: DirectoryAddress, dn: str, password: str, trust: Trust
) -> SitebenchError | None:
    try:
        with connect(address, Identity(dn, password), trust, brief=True):
            return None
    except (WrongPassword, BadInput) as error:
        return error


def search(
    connection: Any, base: str, condition: str, scope: str, *attributes: str, size_limit: int = 0
) -> list[Any]:
    """Return the entries of an answer, without references to other directories."""
    connection.search(base, condition, scope, attributes=[*attributes], size_limit=size_limit)
    return [entry for entry in connection.response or () if entry["type"] == "searchResEntry"]


def read(
    connection: Any, dn: str, *attributes: str, condition: str = "(objectClass=*)"
) -> dict[str, list[bytes]]:
    """Return attributes of an entry; none if it is missing or hidden."""
    entries = search(connection, dn, condition, ldap3.BASE, *attributes)
    return entries[0]["raw_attributes"] if entries else {}


def exists(connection: Any, dn: str) -> bool:
    connection.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["1.1"])
    return bool(connection.result["result"] == 0 and connection.response)


def find_entry(connection: Any, base: str, filter_: str, attribute: str) -> tuple[str, bool] | None:
    """Return the DN of an entry, and whether it shows an attribute; None if there is no entry.

    The DN is empty if the directory hides it.
    """
    try:
        entries = search(connection, base, filter_, ldap3.SUBTREE, attribute, size_limit=1)
    except LDAPException:
        return "", False
    for entry in entries:
        return str(entry["dn"]), bool(entry["raw_attributes"].get(attribute))
    return None if connection.result["result"] == _SUCCESS else ("", False)


def root_dse(
    address: DirectoryAddress, who: Identity = ANONYMOUS, trust: Trust = SYSTEM
) -> dict[str, Any]:
    """Return vendor, version and classes in the root DSE (RFC 4512 5.1, RFC 3045)."""
    with connect(address, who, trust, brief=True) as connection:
        attributes = read(connection, "", *_ROOT_DSE_ATTRIBUTES)
    return {
        name: printable(", ".join(value.decode(errors="replace") for value in attributes[name]))
        for name in _ROOT_DSE_ATTRIBUTES
        if attributes.get(name)
    }
