"""Numbers in the sentences of evidence."""

from __future__ import annotations

from sitebench.units import plural


def share(value: float) -> str:
    """Write a share; a small share is never 0%."""
    if 0 < value < 0.01:
        return "under 1%"
    return f"{value:.0%}"


def cores(n: float) -> str:
    return plural(n, "core")
