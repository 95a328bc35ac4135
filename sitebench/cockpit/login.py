"""Who may use the page when Locust is started with --web-login: one name, one password."""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path
from typing import Any

import gevent  # type: ignore[import-untyped]
from flask import Response, redirect, request, session, url_for
from flask_login import UserMixin, login_user  # type: ignore[import-untyped]
from locust.web import WebUI

from sitebench.errors import BadFile, BadInput
from sitebench.options import LOGIN_VARIABLE

REFUSED_S = 1.0
"""What a wrong password costs whoever guesses."""


class _Somebody(UserMixin):  # type: ignore[misc]
    """The one user there is."""

    id = "sitebench"


def credentials(file: str | None) -> tuple[str, str]:
    """Read name and password from a file or the environment; never from an argument."""
    if file is None:
        name, colon, password = os.environ.get(LOGIN_VARIABLE, "").partition(":")
        source = f"${LOGIN_VARIABLE}"
    else:
        name, colon, password = _first_line(file).partition(":")
        source = file
    if not (name and colon and password):
        raise BadInput(
            f"--web-login finds no NAME:PASSWORD in {source}",
            f"write it into a file and name that with --login-file, or set ${LOGIN_VARIABLE}",
        )
    return name, password


def _first_line(file: str) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read {file}: {error}", "name a readable file") from error
    return lines[0] if lines else ""


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
