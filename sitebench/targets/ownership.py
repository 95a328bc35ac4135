"""Whose a target is: nothing is written to another machine's unless somebody says it is theirs.

A slip in an address must not fill a stranger's directory with people, nor press a stranger's forms.
Reading is not held up: who may read is for the target to say.
"""

from __future__ import annotations

import os
from pathlib import Path

from sitebench.errors import NotYours
from sitebench.system.network import on_loopback

FLAG = "--i-own-this-target"


def own_targets() -> Path:
    """Return the file whose lines are hosts, or host:port, that are one's own."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "sitebench" / "own-targets"


def assure_own(host: str, port: int, *, owned: bool, what: str) -> None:
    """Raise NotYours unless `what` may write to a target; `owned` is what its user said."""
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
