"""Text files that options name. A worker uses the texts that its master sent."""

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
    """Return the text of a file, or the master's text; `kind` names the file in an error."""
    try:
        return _RECEIVED.get(str(path)) or Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else "it is not UTF-8 text"
        raise error(f"cannot read {kind} {path}: {reason}", remedy) from wrong
