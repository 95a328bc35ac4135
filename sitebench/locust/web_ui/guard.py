"""What a posted request is asked before Locust sees it."""

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
        """The fields of the form, of all that locustfiles add options for."""

    def __call__(self) -> Response | tuple[str, int] | None:
        """Return the refusal; None lets the request pass."""
        if self._unknown_name():
            return "this page listens on loopback: open it as localhost, or give --web-host\n", 403
        if _from_elsewhere():
            return "pages of other sites may neither command tests nor read them\n", 403
        if request.endpoint != "locust.swarm" or not self._known():
            return None
        why = self._refusal(request.form.to_dict())
        return None if why is None else jsonify({"success": False, "message": why})

    def _unknown_name(self) -> bool:
        """Return whether a page that only this machine reaches is asked for by another's name.

        The owner of that name may have it resolve to us, and their page would be of our own site.
        """
        web_ui = self._bridge.environment.web_ui
        if web_ui is None or not on_loopback(web_ui.host):
            return False
        named = urlsplit(f"//{request.host}").hostname or ""
        return named not in ("localhost", web_ui.host) and not _is_address(named)

    def _known(self) -> bool:
        """Return whether this is somebody whom Locust itself would not turn away."""
        web_ui = self._bridge.environment.web_ui
        return web_ui is None or not web_ui.web_login or bool(current_user.is_authenticated)

    def _refusal(self, posted: dict[str, str]) -> str | None:
        """Return why a test cannot be started, or changed, as asked."""
        bridge, options = self._bridge, self._options
        if bridge.role.preparing is not None:
            return "the target is still being made ready: wait, or stop the test"
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


def _from_elsewhere() -> bool:
    """Return whether a page of another site asks: Locust itself lets every site's pages do so.

    An image or a frame names no origin, but browsers say where it comes from; a link is followed.
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
