"""Checks every request before Locust sees it."""

from __future__ import annotations

import argparse
import ipaddress
from typing import Any
from urllib.parse import urlsplit

from flask import Response, jsonify, request
from flask_login import current_user  # type: ignore[import-untyped]
from locust.argument_parser import ui_extra_args_dict
from locust.runners import STATE_RUNNING, STATE_SPAWNING

from sitebench.errors import SitebenchError
from sitebench.locust.bridge import Bridge
from sitebench.locust.web_ui import form
from sitebench.system.network import on_loopback


class Guard:
    """Refuses pages of other sites, and forms that cannot be run."""

    def __init__(self, bridge: Bridge, options: type[Any], parsed: argparse.Namespace) -> None:
        self._bridge = bridge
        self._options = options
        self._parsed = parsed
        self._shown = frozenset(ui_extra_args_dict())
        """The fields of the form: all options that locustfiles add."""

    def __call__(self) -> Response | tuple[str, int] | None:
        """Return the refusal; None lets the request pass."""
        if self._rebound():
            return (
                "this page is on loopback only: open it as localhost, or set --web-host\n",
                403,
            )
        if _cross_site():
            return "pages of other sites may neither start tests nor read them\n", 403
        if request.endpoint != "locust.swarm" or not self._logged_in():
            return None
        why = self._refusal(request.form.to_dict())
        return None if why is None else jsonify({"success": False, "message": why})

    def _rebound(self) -> bool:
        """Return whether a page on loopback is requested by a foreign host name.

        Its owner may have it resolve to us, and their page would then count as our own site (DNS
        rebinding).
        """
        web_ui = self._bridge.environment.web_ui
        if web_ui is None or not on_loopback(web_ui.host):
            return False
        host = urlsplit(f"//{request.host}").hostname or ""
        return host not in ("localhost", web_ui.host) and not _is_address(host)

    def _logged_in(self) -> bool:
        """Return whether Locust itself would accept this request."""
        web_ui = self._bridge.environment.web_ui
        return web_ui is None or not web_ui.web_login or bool(current_user.is_authenticated)

    def _refusal(self, posted: dict[str, str]) -> str | None:
        """Return the message about a test that cannot be started, or changed, like this."""
        bridge, options = self._bridge, self._options
        if bridge.role.preparing is not None:
            return "the target is still being prepared: wait, or stop the test"
        if why := form.withheld(self._shown, posted, self._parsed) or form.unreadable(
            options, posted
        ):
            return why
        if bridge.runner.state in (STATE_SPAWNING, STATE_RUNNING):
            return form.unchangeable(options, posted, self._parsed)
        try:
            bridge.workload.check(form.options(options, posted, self._parsed))
        except SitebenchError as error:
            return str(error)
        return None


def _cross_site() -> bool:
    """Return whether the request comes from another site's page: Locust itself would allow it.

    An image or a frame has no `Origin`, but browsers send `Sec-Fetch-Site`; links may be followed.
    """
    headers = request.headers
    if (
        headers.get("Sec-Fetch-Site") == "cross-site"
        and headers.get("Sec-Fetch-Mode") != "navigate"
    ):
        return True
    origin = headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != request.host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
