"""Numbers, as the sentences of evidence write them."""

from __future__ import annotations


def share(value: float) -> str:
    """Write a share; a small one is not written as 0%."""
    if 0 < value < 0.01:
        return "under 1%"
    return f"{value:.0%}"


def cores(n: float) -> str:
    """Write a number of cores."""
    return "1 core" if n == 1 else f"{n:.3g} cores"


def plural(n: int, thing: str, things: str | None = None) -> str:
    """Write a count and what is counted."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"
