"""Where a node_exporter answers, as people type it."""

from __future__ import annotations

from urllib.parse import urlsplit

from sitebench.errors import UnknownValue
from sitebench.system import secret

PORT = 9100
"""Where a node_exporter listens unless told otherwise."""

_REMEDY = f"write the address of a node_exporter, such as http://host:{PORT}/metrics"


def parse_exporter(text: str) -> str:
    """Return the whole URL: `host` alone means http, port 9100 and /metrics."""
    try:
        parts = urlsplit(secret.address(text if "://" in text else f"http://{text}"))
        port = parts.port or PORT
    except ValueError:
        raise UnknownValue(f"{text!r} has no valid port or host", _REMEDY) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnknownValue(f"{text!r} is no address of an exporter", _REMEDY)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/") or "/metrics"
    return f"{parts.scheme}://{host}:{port}{path}" + (f"?{parts.query}" if parts.query else "")
