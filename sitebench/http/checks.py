"""What is wrong with an answer, by the engine's names: the checks of the client in Python.

`html` texts are compared as a browser would read them, whichever way the site escapes; `json`
texts as JSON writes them, escaped beyond ASCII or not; `plain` texts byte for byte.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

from sitebench.http.scenario import FORM, Identity, Request, render


def fault(
    request: Request, values: Mapping[str, str], status: int, body: bytes, *, fresh: bool
) -> str | None:
    """Return the kind of failure an answer is, or None when it is what was asked for.

    `fresh` says that the person was updated by this user before.
    """
    expect, text = request.expect, body.decode("utf-8", "replace")
    identity = expect.identity and _identity(expect.identity, request.match, values, text)
    # A leak first: it matters more than anything else that is wrong with a page.
    if identity == "leak":
        return identity
    if status not in expect.status:
        return f"status:{status}"
    if expect.length is not None and len(body) != expect.length:
        return "wrong-length"
    if identity or not all(
        _has(text, request.match, template, values) for template in expect.contains
    ):
        return "wrong-answer"
    if fresh and not all(_has(text, request.match, template, values) for template in expect.fresh):
        return "stale"
    return None


def _identity(wanted: Identity, match: str, values: Mapping[str, str], text: str) -> str | None:
    _, found, rest = text.partition(wanted.before)
    shown, ended, _ = rest.partition(wanted.until)
    if not found or not ended:
        return "wrong-answer"
    if match == "html":
        shown = html.unescape(shown)
    return None if shown == render(wanted.value, values) else "leak"


def _has(text: str, match: str, template: str, values: Mapping[str, str]) -> bool:
    if match == "html":
        return html.unescape(render(template, values)) in html.unescape(text)
    if match == "json":
        escaped = {name: json.dumps(value)[1:-1] for name, value in values.items()}
        unescaped = {
            name: json.dumps(value, ensure_ascii=False)[1:-1] for name, value in values.items()
        }
        return render(template, escaped) in text or render(template, unescaped) in text
    return render(template, values) in text


def path_of(request: Request, values: Mapping[str, str]) -> str:
    """Return a request's path, with values escaped as paths want it."""
    return render(request.path, {name: quote(value, safe="") for name, value in values.items()})


def body_of(request: Request, values: Mapping[str, str]) -> str | None:
    """Return a request's body, with values escaped as its content type wants it."""
    if not request.body:
        return None
    escaped = dict(values)
    if request.content_type == FORM:
        escaped = {name: quote_plus(value) for name, value in values.items()}
    elif "json" in request.content_type:
        escaped = {name: json.dumps(value)[1:-1] for name, value in values.items()}
    return render(request.body, escaped)
