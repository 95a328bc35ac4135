"""Addresses on the command line: a node_exporter, and the master of workers."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from sitebench.errors import UnknownValue
from sitebench.system import secret

_EXPORTER_PORT = 9100

_MASTER_PORT = 5557

_REMEDY = f"write the address of a node_exporter, such as http://host:{_EXPORTER_PORT}/metrics"


def parse_exporter(text: str) -> str:
    """Return the whole URL of an exporter; the default is http, port 9100 and the path /metrics."""
    try:
        parts = urlsplit(secret.address(text if "://" in text else f"http://{text}"))
        port = parts.port or _EXPORTER_PORT
    except ValueError:
        raise UnknownValue(f"{text!r} has no valid port or host", _REMEDY) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnknownValue(f"{text!r} is not the address of a node_exporter", _REMEDY)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/") or "/metrics"
    return f"{parts.scheme}://{host}:{port}{path}" + (f"?{parts.query}" if parts.query else "")


def reachable_host(text: str) -> str:
    """Refuse a wildcard address, to which workers cannot connect."""
    if text in ("0.0.0.0", "::", "*"):
        raise UnknownValue(
            f"workers cannot connect to the address {text}",
            "give the address at which they reach this machine",
        )
    return text


class MasterAddress(msgspec.Struct, frozen=True):
    """Address on which a master listens for its workers."""

    host: str
    port: int = _MASTER_PORT

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _MASTER_PORT else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> MasterAddress:
        """Read HOST or HOST:PORT; an IPv6 address with a port is written in brackets."""
        host, port = text, str(_MASTER_PORT)
        if text.startswith("["):
            host, _, rest = text[1:].partition("]")
            port = rest.removeprefix(":") or port
        elif text.count(":") == 1:
            host, port = text.split(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise UnknownValue(
                f"{text!r} is not the address of a master", f"write HOST or HOST:{_MASTER_PORT}"
            )
        return cls(host, int(port))
