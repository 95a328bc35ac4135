"""Text files that options name: a worker reads the master's, not those of its own machine."""

from __future__ import annotations

from pathlib import Path

from sitebench.errors import BadFile

_RECEIVED: dict[str, str] = {}
"""The master's texts, by path."""


def receive(path: str, text: str) -> None:
    _RECEIVED[path] = text


def read_text(
    path: Path | str, kind: str, error: type[BadFile], remedy: str = "name a readable TOML file"
) -> str:
    """Return a file's text, the master's if there is one; `kind` is for the error."""
    try:
        return _RECEIVED.get(str(path)) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else "it is not UTF-8 text"
        raise error(f"cannot read {kind} {path}: {reason}", remedy) from wrong
