"""A recording of a browser: HTTP Archive 1.2, as developer tools save it.

The file can come from a stranger, so members of a wrong type are read as empty.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from sitebench.errors import BadFile, printable

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ASSET = re.compile(r"(image|font|audio|video)/|text/css|application/font|.*javascript")
_Kind = TypeVar("_Kind")
_REMEDY = "save the recording as HAR in the network view of a browser's developer tools"


class Exchange:
    def __init__(self, entry: Mapping[str, Any]) -> None:
        request, answer = _member(entry, "request", dict), _member(entry, "response", dict)
        post, content = _member(request, "postData", dict), _member(answer, "content", dict)
        self.begun_s = _seconds(_member(entry, "startedDateTime", str))
        took_ms = entry.get("time")
        self.took_s = max(0.0, min(took_ms, 1e9) / 1e3) if isinstance(took_ms, int | float) else 0.0
        self.method, self.url = _member(request, "method", str), _member(request, "url", str)
        self.host = _host_of(self.url)
        self.sent_headers = _pairs(request, "headers")
        lines = [text for name, text in self.sent_headers if name.lower() == "cookie"]
        self.sent_cookies = [_pair(text) for line in lines for text in line.split(";")]
        self.sent_type = _member(post, "mimeType", str)
        text = _decode(post)
        self.sent = text or urlencode(_pairs(post, "params"), errors="replace")
        self.sends_text = text is not None and "\ufffd" not in self.sent
        self.status = _member(answer, "status", int)
        headers = _pairs(answer, "headers")
        self.headers = [(name, line) for name, text in headers for line in text.split("\n")]
        """Headers of the answer; browsers save several cookies as one header with line breaks."""
        lines = [text for name, text in self.headers if name.lower() == "set-cookie"]
        self.cookies = [_pair(line.partition(";")[0]) for line in lines if "=" in line]
        self._is_asset = _ASSET.match(_member(content, "mimeType", str)) is not None
        self.body = "" if self._is_asset else _decode(content) or ""
        """The body of the answer; empty for images, style sheets, scripts and fonts."""
        self._cached = _member(entry, "_fromCache", str) in ("memory", "disk")

    def unusable(self, *, pages_only: bool) -> str:
        """Return why a request is left out, or an empty text."""
        scheme = self.url.partition(":")[0].lower()
        reasons = {
            "websockets": scheme in ("ws", "wss") or self.status == 101,
            "addresses that are not http or https": scheme not in ("http", "https")
            or not self.host,
            printable(self.method, 20) or "no method": self.method not in _METHODS,
            "from the browser's cache": self._cached,
            "not answered": not 200 <= self.status < 600,
            "bodies that are not text": not self.sends_text,
            "images, style sheets, scripts and fonts": pages_only and self._is_asset,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")


def _seconds(timestamp: str) -> float | None:
    try:
        begun = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (begun if begun.tzinfo else begun.replace(tzinfo=UTC)).timestamp()


def _host_of(url: str) -> str:
    """Return the host and port of a URL, without user name and password."""
    try:
        parts = urlsplit(url)
        port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"


def read(har: str, source: str) -> Sequence[Exchange]:
    try:
        document = json.loads(har)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deep"
        raise BadFile(f"{source} is not JSON: {reason}", _REMEDY) from None
    log = _member(document, "log", dict) if isinstance(document, dict) else {}
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise BadFile(f"{source} is not a HAR recording: it has no log.entries", _REMEDY)
    exchanges = [Exchange(entry) for entry in entries if isinstance(entry, dict)]
    if any(exchange.begun_s is None for exchange in exchanges):
        return exchanges
    return sorted(exchanges, key=lambda exchange: exchange.begun_s or 0.0)


def _member(node: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    inner = node.get(name)
    return inner if isinstance(inner, kind) else kind()


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


def _pairs(node: Mapping[str, Any], name: str) -> Sequence[tuple[str, str]]:
    listed = [pair for pair in _member(node, name, list) if isinstance(pair, dict)]
    return [(_member(pair, "name", str), _member(pair, "value", str)) for pair in listed]


def _decode(content: Mapping[str, Any]) -> str | None:
    text = _member(content, "text", str)
    if _member(content, "encoding", str) != "base64":
        return text
    try:
        return base64.b64decode(text).decode()
    except ValueError:
        return None
