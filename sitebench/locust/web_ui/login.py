"""Who may use the page when Locust is started with --web-login: one name, one password."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

import gevent  # type: ignore[import-untyped]
from flask import Response, redirect, request, session, url_for
from flask_login import UserMixin, login_user  # type: ignore[import-untyped]
from locust.web import WebUI

REFUSED_S = 1.0
"""What a wrong password costs whoever guesses."""


class _Somebody(UserMixin):  # type: ignore[misc]
    """The one user there is."""

    id = "sitebench"


def require_login(web_ui: WebUI, base_path: str | None, name: str, password: str) -> None:
    """Have Locust's login page ask for them."""
    app: Any = web_ui.app
    app.secret_key = secrets.token_bytes(32)
    path = f"{base_path or ''}/sitebench/login"
    web_ui.login_manager.user_loader(lambda _: _Somebody())
    web_ui.auth_args = {"username_password_callback": path}

    def log_in() -> Response:
        given = (request.form.get("username", ""), request.form.get("password", ""))
        # Both are always compared: how long it takes says nothing about either.
        right = [
            hmac.compare_digest(a.encode(), b.encode())
            for a, b in zip(given, (name, password), strict=True)
        ]
        if all(right):
            login_user(_Somebody())
            session["auth_error"] = None
            return redirect(url_for("locust.index"))  # type: ignore[return-value]
        gevent.sleep(REFUSED_S)
        session["auth_error"] = "Unknown name or password"
        return redirect(url_for("locust.login"))  # type: ignore[return-value]

    app.add_url_rule(path, "sitebench_login", log_in, methods=["POST"])
