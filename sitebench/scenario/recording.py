"""A recording of a browser: HTTP Archive 1.2, as developer tools save it.

A file of another program's, and at times a stranger's: what is not as it should be reads as empty.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode, urlsplit

from sitebench.errors import BadFile, printable
from sitebench.frozen import frozen

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ASSET = re.compile(r"(image|font|audio|video)/|text/css|application/font|.*javascript")
_REMEDY = "save the recording as HAR in the network view of a browser's developer tools"


@frozen
class Exchange:
    """A request and its answer."""

    _entry: Mapping[str, Any]

    @property
    def begun_s(self) -> float | None:
        try:
            at = datetime.fromisoformat(_text(self._entry, "startedDateTime"))
        except ValueError:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()

    @property
    def took_s(self) -> float:
        found = self._entry.get("time")
        return max(0.0, min(found, 1e9) / 1e3) if isinstance(found, int | float) else 0.0

    @property
    def method(self) -> str:
        return _text(self._request, "method")

    @property
    def url(self) -> str:
        return _text(self._request, "url")

    @cached_property
    def host(self) -> str:
        """With its port, and without the name and password of a user."""
        try:
            found = urlsplit(self.url)
            port = "" if found.port in (None, 80, 443) else f":{found.port}"
        except ValueError:
            return ""
        return f"{found.hostname or ''}{port}"

    @property
    def sent_headers(self) -> Sequence[tuple[str, str]]:
        return _pairs(self._request, "headers")

    @property
    def sent_type(self) -> str:
        return _text(_table(self._request, "postData"), "mimeType")

    @cached_property
    def sent(self) -> str | None:
        """The body; None if it is no text."""
        data = _table(self._request, "postData")
        text = _decoded(data) or urlencode(_pairs(data, "params"), errors="replace")
        return None if _decoded(data) is None or "\ufffd" in text else text

    @property
    def status(self) -> int:
        found = self._answer.get("status")
        return found if isinstance(found, int) else 0

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Of the answer: a line for each cookie, which browsers save as one with line breaks."""
        lines = _pairs(self._answer, "headers")
        return [(name, line) for name, text in lines for line in text.split("\n")]

    @cached_property
    def body(self) -> str:
        """What was answered, if it is a text of its own."""
        return "" if self._is_asset else _decoded(_table(self._answer, "content")) or ""

    def unusable(self, *, pages_only: bool) -> str:
        """Return why it is not asked for again; nothing if it is."""
        scheme = self.url.partition(":")[0].lower()
        reasons = {
            "websockets": scheme in ("ws", "wss") or self.status == 101,
            "addresses of no site": scheme not in ("http", "https") or not self.host,
            printable(self.method, 20) or "no method": self.method not in _METHODS,
            "from the browser's cache": _text(self._entry, "_fromCache") in ("memory", "disk"),
            "not answered": not 200 <= self.status < 600,
            "bodies that are no text": self.sent is None,
            "images, style sheets, scripts and fonts": pages_only and self._is_asset,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    @property
    def _is_asset(self) -> bool:
        kind = _text(_table(self._answer, "content"), "mimeType")
        return _ASSET.match(kind) is not None

    @property
    def _request(self) -> Mapping[str, Any]:
        return _table(self._entry, "request")

    @property
    def _answer(self) -> Mapping[str, Any]:
        return _table(self._entry, "response")


def read(har: str, source: str) -> Sequence[Exchange]:
    """Return what was recorded, in the order in which it began."""
    try:
        found = json.loads(har)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deep"
        raise BadFile(f"{source} is not JSON: {why}", _REMEDY) from None
    log = _table(found, "log") if isinstance(found, dict) else {}
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise BadFile(f"{source} is no recording: it has no log.entries", _REMEDY)
    exchanges = [Exchange(each) for each in entries if isinstance(each, dict)]
    if any(each.begun_s is None for each in exchanges):
        return exchanges
    return sorted(exchanges, key=lambda each: each.begun_s or 0.0)


def _table(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, dict) else {}


def _text(found: Mapping[str, Any], name: str) -> str:
    inner = found.get(name)
    return inner if isinstance(inner, str) else ""


def _pairs(found: Mapping[str, Any], name: str) -> Sequence[tuple[str, str]]:
    """Return names and values of a list of them."""
    inner = found.get(name)
    listed = [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []
    return [(_text(each, "name"), _text(each, "value")) for each in listed]


def _decoded(content: Mapping[str, Any]) -> str | None:
    text = _text(content, "text")
    if _text(content, "encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode()
    except ValueError:
        return None
