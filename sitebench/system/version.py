"""The version that is installed."""

from __future__ import annotations


def version() -> str:
    # Late: it imports what reads mail and archives, half of what `--version` takes.
    from importlib.metadata import version as of

    return of("sitebench")


def say_version() -> None:
    print(f"sitebench {version()}")
