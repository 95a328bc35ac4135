"""Checks every request before Locust sees it."""

from __future__ import annotations

import argparse
import hmac
import html
import ipaddress
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from flask import jsonify, make_response, redirect, request, url_for
from flask_login import current_user  # type: ignore[import-untyped]
from locust.argument_parser import ui_extra_args_dict
from locust.runners import STATE_RUNNING, STATE_SPAWNING

from sitebench.errors import SitebenchError
from sitebench.locust.bridge import Bridge
from sitebench.locust.web_ui import form
from sitebench.options.convert import from_namespace
from sitebench.system.network import on_loopback

_OF_A_CLASS = frozenset({"user_class_name", "tasks", "weight", "fixed_count", "host"})
"""Attributes of a user class that the page may change; Locust would accept any attribute."""

_ELSEWHERE = ("cross-site", "same-site")
"""Values of `Sec-Fetch-Site` if a page of another site, or of another port, began the request."""


class Guard:
    """Refuses pages of other sites, visitors without the token, and forms that cannot be run."""

    def __init__(
        self, bridge: Bridge, options: type[Any], parsed: argparse.Namespace, token: str | None
    ) -> None:
        self._bridge = bridge
        self._options = options
        self._parsed = parsed
        self._token = token
        self._pinned = form.pinned_fields(options, from_namespace(options, parsed))
        """Taken before any form, as Locust stores posted values among its parsed options."""
        self._shown = frozenset(ui_extra_args_dict())

    def __call__(self) -> Any:
        if self._rebound():
            return ("this page is on loopback only: open it as localhost, or set --web-host\n", 403)
        if _cross_site():
            return "pages of other sites may neither start tests nor read them\n", 403
        if self._token is not None and (refusal := self._refuse_without(self._token)) is not None:
            return refusal
        if request.endpoint == "locust.update_user" and not _changes_a_class():
            return "the page must not change this attribute of a user class\n", 403
        if request.endpoint != "locust.swarm" or not self._logged_in():
            return None
        reason = self._refusal(request.form.to_dict(), request.form.getlist("user_classes"))
        return None if reason is None else jsonify({"success": False, "message": reason})

    def _refuse_without(self, token: str) -> Any:
        """Return the answer to a visitor without the token, or with the token in the address."""

        def is_it(text: str | None) -> bool:
            return hmac.compare_digest((text or "").encode(), token.encode())

        name = f"sitebench-{urlsplit(f'//{request.host}').port or 80}"
        if is_it(request.args.get("token")):
            if request.endpoint != "locust.index":
                return None
            query = urlencode([(k, v) for k, v in request.args.items(multi=True) if k != "token"])
            page = url_for("locust.index") + (f"?{query}" if query else "")
            answer = make_response(redirect(page))
            if request.headers.get("Sec-Fetch-Site") in _ELSEWHERE:
                # The link to this page was on another site, or in a file (setup.py). After a
                # redirect, the browser would still regard the next request as that site's, and
                # would send no cookie. If our own page requests the next page, the cookie is sent.
                target = html.escape(page)
                answer = make_response(f'<meta http-equiv="refresh" content="0;url={target}">')
            # Browsers send this cookie only in requests of our own pages; no script may read it.
            answer.set_cookie(name, token, httponly=True, samesite="Strict")
            return answer
        header = request.authorization
        bearer = header.token if header is not None and header.type == "bearer" else None
        if is_it(bearer) or is_it(request.cookies.get(name)):
            return None
        return (
            "open the address with ?token= that was printed at the start, or send the header "
            "Authorization: Bearer TOKEN\n",
            403,
        )

    def _rebound(self) -> bool:
        """Return whether a page on loopback is requested by a foreign host name (DNS rebinding)."""
        web_ui = self._bridge.environment.web_ui
        if web_ui is None or not on_loopback(web_ui.host):
            return False
        host = urlsplit(f"//{request.host}").hostname or ""
        return host not in ("localhost", web_ui.host) and not _is_address(host)

    def _logged_in(self) -> bool:
        web_ui = self._bridge.environment.web_ui
        return web_ui is None or not web_ui.web_login or bool(current_user.is_authenticated)

    def _refusal(self, posted: dict[str, str], chosen: Sequence[str]) -> str | None:
        """Return the error of a test that cannot be started, or changed, with this form."""
        bridge, options = self._bridge, self._options
        if bridge.role.preparing is not None:
            return "the target is still being prepared: wait, or stop the test"
        if reason := (
            form.find_withheld(self._shown, posted, self._parsed)
            or form.find_unreadable(options, posted)
            or form.changed_pinned_field(self._pinned, options, posted, self._parsed)
        ):
            return reason
        if bridge.runner.state in (STATE_SPAWNING, STATE_RUNNING):
            return form.find_unchangeable(options, posted, self._parsed)
        try:
            # Locust sets the chosen classes later, or all if none is chosen.
            available: Mapping[str, Any] = bridge.environment.available_user_classes or {}
            users = [available[name] for name in chosen if name in available]
            count = {"users": posted["user_count"]} if posted.get("user_count") else {}
            now = form.options(options, posted | count, self._parsed)
            bridge.suite_run.check(now, users or bridge.environment.user_classes)
        except SitebenchError as error:
            return str(error)
        return None


def _cross_site() -> bool:
    """Return whether the request comes from another site's page.

    Locust itself would answer such a request. A request for an image has no `Origin`, but browsers
    send `Sec-Fetch-Site`. Links to a page are allowed.
    """
    headers = request.headers
    followed = (request.method, headers.get("Sec-Fetch-Dest")) == ("GET", "document")
    if headers.get("Sec-Fetch-Site") in _ELSEWHERE and not followed:
        return True
    origin = headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != request.host


def _changes_a_class() -> bool:
    try:
        return _OF_A_CLASS.issuperset(json.loads(request.data))
    except (TypeError, ValueError, RecursionError):
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
