"""A browser that records its requests as an HTTP Archive."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

FORM = "application/x-www-form-urlencoded"


def entry(
    method: str,
    url: str,
    status: int = 200,
    *,
    sent: Any = (),
    post: str | None = None,
    kind: str = FORM,
    headers: Any = (),
    body: str = "",
    mime: str = "text/html",
    at: float = 0.0,
    **more: Any,
) -> dict[str, Any]:
    """Return an entry that took 100 ms."""
    request: dict[str, Any] = {"method": method, "url": url, "headers": _pairs(sent)}
    if post is not None:
        request["postData"] = {"mimeType": kind, "text": post}
    return {
        "startedDateTime": f"2026-05-01T10:{int(at // 60):02}:{at % 60:06.3f}Z",
        "time": 100,
        "request": request,
        "response": {
            "status": status,
            "headers": _pairs(headers),
            "content": {"mimeType": mime, "text": body},
        },
        **more,
    }


def archive(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def _pairs(found: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in found]


class Browser:
    """Stores cookies, does not follow redirects, and records all requests in `entries`."""

    def __init__(self, url: str) -> None:
        self.entries: list[dict[str, Any]] = []
        self._url, self.cookies = url, dict[str, str]()

    def ask(
        self,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Return the body of an answer."""
        sent = [("User-Agent", "Browser/1.0"), ("Accept", "text/html,*/*;q=0.8"), *headers.items()]
        if self.cookies:
            pairs = (f"{name}={value}" for name, value in self.cookies.items())
            sent.append(("Cookie", "; ".join(pairs)))
        post = None if form is None else urlencode(form)
        if post is not None:
            sent.append(("Content-Type", FORM))
        connection = http.client.HTTPConnection(self._url.removeprefix("http://"), timeout=30)
        connection.request(method, path, post, dict(sent))
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        self.entries.append(
            entry(
                method,
                self._url + path,
                answer.status,
                sent=sent,
                post=post,
                headers=answer.getheaders(),
                body=body,
                mime=answer.headers.get_content_type(),
                at=float(len(self.entries)),
            )
        )
        return body
