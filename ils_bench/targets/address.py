"""Addresses of directories: ldap://host:port or ldaps://host:port."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from sitebench.errors import BadInput, UnknownValue
from sitebench.system import secret
from sitebench.system.network import HOST_AND_PORT
from sitebench.targets.tls import Trust

START_TLS = "ldap+tls"
_PORTS = {"ldap": 389, "ldaps": 636}


class DirectoryAddress(msgspec.Struct, frozen=True):
    host: str
    port: int
    scheme: str = "ldap"
    """`ldaps` is TLS from the start, `ldap+tls` is StartTLS."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme.partition('+')[0]}://{host}:{self.port}"

    @property
    def is_encrypted(self) -> bool:
        return self.scheme != "ldap"

    @property
    def start_tls(self) -> bool:
        return self.scheme == START_TLS

    def engine_tls(self, trust: Trust) -> dict[str, Any] | None:
        if not self.is_encrypted:
            return None
        return {"trust": trust.to_engine(), "start": self.start_tls}


def scheme_of(*, tls: bool, start_tls: bool) -> str:
    return START_TLS if start_tls else "ldaps" if tls else "ldap"


def parse_address(url: str, *, start_tls: bool = False) -> DirectoryAddress:
    """Read ldap://host:port or ldaps://host:port; the default port is 389 or 636."""
    remedy = "write embedded, openldap, or an address such as ldap://127.0.0.1:389"
    try:
        parts = urlsplit(secret.address(url))
        port = parts.port
    except ValueError:
        raise UnknownValue(f"target {url!r} has no valid port", remedy) from None
    if parts.scheme in ("http", "https"):
        sites = "measure it with `sitebench ps` or `sitebench web`"
        raise UnknownValue(f"{url} is a web site, not a directory", sites)
    if parts.scheme not in _PORTS or not parts.hostname:
        hint = f"did you mean ldap://{url}? " if HOST_AND_PORT.fullmatch(url) else ""
        raise UnknownValue(f"unknown target {url!r}", f"{hint}{remedy}")
    if start_tls and parts.scheme == "ldaps":
        raise BadInput(
            f"target {url!r} begins with TLS, and --start-tls asks for it later",
            "leave out --start-tls, or write ldap://",
        )
    scheme = START_TLS if start_tls else parts.scheme
    return DirectoryAddress(parts.hostname, port or _PORTS[parts.scheme], scheme)
