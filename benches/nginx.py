"""nginx with one static file, the reference for a personalized page."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sitebench.targets.tls import ServerTls
from web_bench.targets import nginx
from web_bench.targets.started import Started


@contextlib.contextmanager
def serving(page: bytes, tls: ServerTls | None = None) -> Iterator[Started]:
    """Yield an nginx that serves `page` at /page.html, over TLS if it has a key."""
    with tempfile.TemporaryDirectory(prefix="sitebench-nginx-") as name:
        (Path(name) / "page.html").write_bytes(page)
        with nginx.serving(Path(name), tls=tls, kinds=()) as started:
            yield started
