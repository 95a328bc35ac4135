"""Permission to write: a target on another machine is written to only if its user says so.

A slip in an address must not fill a stranger's directory, nor submit a stranger's forms. Reading
needs no permission here: access control is the target's business.
"""

from __future__ import annotations

import os
from pathlib import Path

from sitebench.errors import NotYours
from sitebench.system.network import on_loopback

FLAG = "--i-own-this-target"


def own_targets() -> Path:
    """Return the file whose lines are hosts, or host:port, that the user may write to."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "sitebench" / "own-targets"


def assure_own(host: str, port: int, *, owned: bool, what: str) -> None:
    """Raise NotYours unless `what` may write to a target; `owned` is --i-own-this-target."""
    if owned or on_loopback(host) or _named(host, port):
        return
    raise NotYours(
        f"{what} writes to {host}, which is not this machine's loopback",
        f"if it is yours, add {FLAG}, or a line that reads {host} to {own_targets()}",
    )


def _named(host: str, port: int) -> bool:
    try:
        lines = own_targets().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    named = {line.partition("#")[0].strip().lower() for line in lines}
    return not named.isdisjoint(
        {host.lower(), f"{host}:{port}".lower(), f"[{host}]:{port}".lower()}
    )
