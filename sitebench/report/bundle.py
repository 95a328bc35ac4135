"""The chart library as one script: vl-convert has it inside and bundles it, which takes a second.

So it is kept in the user's cache, by version. Where nothing may be kept there, it is made anew.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import tempfile
from pathlib import Path

# Wrapped: the bundle's names would be everybody's, and two scripts may not declare the same one.
_OPEN, _CLOSE = "(()=>{", "})();"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """Return the script that defines `vegaEmbed`."""
    kept = _folder() / f"charts-{importlib.metadata.version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        script = kept.read_text(encoding="utf-8")
        # Another program may have been killed while it wrote; then it is made again.
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
