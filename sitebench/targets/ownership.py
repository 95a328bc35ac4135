"""Permission to write to a target that sitebench did not start (docs/safety.md)."""

from __future__ import annotations

import os
from pathlib import Path

from sitebench.errors import NotYours
from sitebench.system.network import on_loopback

FLAG = "--i-own-this-target"


def own_targets() -> Path:
    """Return the user's list of targets to which writes are permitted, as host or host:port."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "sitebench" / "own-targets"


def owns(host: str, port: int, *, owned: bool, named: bool) -> bool:
    """Return whether writes to a target are permitted.

    `owned` is --i-own-this-target; `named` means that the user named an operation that writes.
    """
    return owned or (named and on_loopback(host)) or _is_listed(host, port)


def assure_own(host: str, port: int, *, owned: bool, what: str, named: bool = True) -> None:
    if owns(host, port, owned=owned, named=named):
        return
    declare = f"if it is yours, {_permit(host)}"
    if not on_loopback(host):
        place = f"{host}, which is not this machine's loopback"
        raise NotYours(f"{what} writes to {place}", declare)
    place = f"{host}:{port}, which sitebench did not start, and was not named by you"
    raise NotYours(f"{what} writes to {place}", f"name the operations to measure; or, {declare}")


def assure_overwriting(host: str, port: int, *, owned: bool, what: str) -> None:
    """Raise NotYours unless `what` is permitted to change entries that a target had before."""
    if not owns(host, port, owned=owned, named=False):
        raise NotYours(
            f"{what} changes entries of {host}:{port} that it did not add, and nothing restores "
            "them",
            f"if they are yours to change, {_permit(host)}",
        )


def _permit(host: str) -> str:
    return f"add {FLAG}, or a line that reads {host} to {own_targets()}"


def _is_listed(host: str, port: int) -> bool:
    try:
        lines = own_targets().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    targets = {line.partition("#")[0].strip().lower() for line in lines}
    return not targets.isdisjoint(
        {host.lower(), f"{host}:{port}".lower(), f"[{host}]:{port}".lower()}
    )
