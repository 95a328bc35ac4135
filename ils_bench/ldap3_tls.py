"""TLS as ldap3 speaks it, by Python's own rules: addresses in certificates are checked too."""

from __future__ import annotations

import ssl
from typing import Any

import ldap3

from ils_bench.targets.probe import Address
from sitebench.targets.tls import Trust


class _Tls(ldap3.Tls):
    """ldap3's own knows no addresses in certificates."""

    def __init__(self, trust: Trust) -> None:
        super().__init__(validate=ssl.CERT_NONE if trust.insecure else ssl.CERT_REQUIRED)
        self._context = trust.context()

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        """Put TLS on a connection's socket."""
        connection.socket = self._context.wrap_socket(
            connection.socket, server_hostname=connection.server.host
        )


def server_of(address: Address, trust: Trust, connect_timeout_s: float) -> ldap3.Server:
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
