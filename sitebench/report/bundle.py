"""The chart library as one script, bundled by vl-convert.

Bundling takes a second, so the script is kept in the user's cache, by version. If the cache cannot
be written, it is bundled each time.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import tempfile
from pathlib import Path

# Wrapped in a function: the bundle's global names would clash with those of other scripts.
_OPEN, _CLOSE = "(()=>{", "})();"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """Return the script that defines `vegaEmbed`."""
    kept = _folder() / f"charts-{importlib.metadata.version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        script = kept.read_text(encoding="utf-8")
        # A file that was only partly written is made again.
        if script.startswith(_OPEN) and script.endswith(_CLOSE):
            return script
    from vl_convert import javascript_bundle

    script = _OPEN + javascript_bundle(snippet=_SNIPPET) + _CLOSE
    with contextlib.suppress(OSError):
        _keep(kept, script)
    return script


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sitebench"


def _keep(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(script)
    Path(file.name).replace(path)
