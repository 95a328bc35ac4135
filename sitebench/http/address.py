from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from sitebench.errors import UnknownValue
from sitebench.system import secret
from sitebench.system.network import HOST_AND_PORT

_REMEDY = "write embedded, or an address such as http://127.0.0.1:8080"
_PORTS = {"http": 80, "https": 443}


class SiteAddress(msgspec.Struct, frozen=True):
    host: str
    port: int
    base_path: str = ""
    scheme: str = "http"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.base_path}"

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"


def parse_address(url: str) -> SiteAddress:
    try:
        parts = urlsplit(secret.address(url))
        port = parts.port
    except ValueError:
        raise UnknownValue(f"target {url!r} has no valid port", _REMEDY) from None
    if parts.scheme in ("ldap", "ldaps"):
        directories = "measure it with `sitebench ils`"
        raise UnknownValue(f"{url} is a directory, not a web site", directories)
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        hint = f"did you mean http://{url}? " if HOST_AND_PORT.fullmatch(url) else ""
        raise UnknownValue(f"unknown target {url!r}", f"{hint}{_REMEDY}")
    return SiteAddress(
        parts.hostname, port or _PORTS[parts.scheme], parts.path.rstrip("/"), parts.scheme
    )
