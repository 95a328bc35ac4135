"""Text files that options name: a worker has the master's, whatever lies on its own machine."""

from __future__ import annotations

from pathlib import Path

from sitebench.errors import BadFile

_RECEIVED: dict[str, str] = {}
"""By the names that the files have at the master."""


def receive(path: str, text: str) -> None:
    """Use the master's text for the file of this name: this machine may have none, or another."""
    _RECEIVED[path] = text


def read_text(
    path: Path | str, kind: str, error: type[BadFile], remedy: str = "name a readable TOML file"
) -> str:
    """Return a file's text, as the master has it; `kind` it is stands in the error."""
    try:
        return _RECEIVED.get(str(path)) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else "it is not UTF-8 text"
        raise error(f"cannot read {kind} {path}: {reason}", remedy) from wrong
