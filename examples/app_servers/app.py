"""A page and a folder of files as WSGI: the same program for every server that is compared.

    gunicorn --chdir examples/app_servers --bind 127.0.0.1:8001 app:app

DOCROOT names the folder, written by `sitebench web seed --set spice-static --to FOLDER`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PAGE_BYTES = 6_250
"""Bytes of the page whose rate paper 001 printed for every interface to a program."""

DOCROOT = Path(os.environ.get("DOCROOT", "docroot")).resolve()


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    """Answer /page with today's date, and anything else with a file."""
    path = environ["PATH_INFO"]
    if path == "/page":
        content = page()
    else:
        file = (DOCROOT / path.lstrip("/")).resolve()
        if not file.is_relative_to(DOCROOT) or not file.is_file():
            start_response("404 Not Found", [("Content-Length", "0")])
            return []
        content = file.read_bytes()
    length = str(len(content))
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", length)])
    return [content]


def page() -> bytes:
    """Make the page for this request."""
    text = f"<!DOCTYPE html><title>Today</title><p>Today is {time.strftime('%Y-%m-%d')}.</p>\n"
    return text.encode().ljust(PAGE_BYTES, b".")
