"""Which machine this is, and which of its networks."""

from __future__ import annotations

from pathlib import Path


def this_machine() -> str:
    """Return which machine this is; containers and network namespaces share it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def this_loopback() -> str:
    """Return which loopback 127.0.0.1 is here: there is one per network namespace."""
    return f"{this_machine()}/{Path('/proc/self/ns/net').readlink()}"
