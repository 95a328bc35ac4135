"""Where a master listens for its workers, as people write it: HOST or HOST:PORT."""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.errors import UnknownValue

PORT = 5557
"""Locust's own."""


@dataclass(frozen=True)
class MasterAddress:
    """A host and a port."""

    host: str
    port: int = PORT

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORT else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> MasterAddress:
        """Read HOST or HOST:PORT; an IPv6 address with a port stands in brackets."""
        host, port = text, str(PORT)
        if text.startswith("["):
            host, _, rest = text[1:].partition("]")
            port = rest.removeprefix(":") or port
        elif text.count(":") == 1:
            host, port = text.split(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise UnknownValue(f"{text!r} is no address of a master", f"write HOST or HOST:{PORT}")
        return cls(host, int(port))
