"""The secret of a visitor: the token or, with --web-login, one name and one password.

The command `ui` checks the secret before its process becomes Locust, so this module does not import
Locust.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from typing import TYPE_CHECKING, Any

import gevent  # type: ignore[import-untyped]
from flask import Response, redirect, request, session, url_for
from flask_login import UserMixin, login_user  # type: ignore[import-untyped]

from sitebench.errors import BadInput
from sitebench.system import secret

if TYPE_CHECKING:
    from locust.web import WebUI

_REFUSED_S = 1.0
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
"""Characters that need no encoding in an address, a cookie or a header."""


class _User(UserMixin):  # type: ignore[misc]
    id = "sitebench"


def check(*, web_login: bool, login_file: str | None) -> None:
    if web_login:
        credentials(login_file)
    else:
        token()


def token() -> str:
    text = os.environ.get(secret.WEB_TOKEN)
    if text is None:
        return secrets.token_urlsafe(16)
    if not _TOKEN.fullmatch(text):
        raise BadInput(
            f"${secret.WEB_TOKEN} is not at least 16 characters of A-Z, a-z, 0-9, _ and -",
            "set it to 32 random characters, or unset it: then each session gets a token",
        )
    return text


def credentials(file: str | None) -> tuple[str, str]:
    """Read name and password; never from an argument, which other users of the machine can see."""
    text = secret.read(file, "login file", secret.UI_LOGIN) or ""
    name, _, password = text.partition(":")
    if not (name and password):
        raise BadInput(
            f"--web-login finds no NAME:PASSWORD in {file or f'${secret.UI_LOGIN}'}",
            f"write it into a file for --login-file, or set ${secret.UI_LOGIN}",
        )
    return name, password


def require_login(web_ui: WebUI, base_path: str | None, name: str, password: str) -> None:
    app: Any = web_ui.app
    app.secret_key = secrets.token_bytes(32)
    path = f"{base_path or ''}/sitebench/login"
    web_ui.login_manager.user_loader(lambda _: _User())
    web_ui.auth_args = {"username_password_callback": path}

    def log_in() -> Response:
        credentials_sent = (request.form.get("username", ""), request.form.get("password", ""))
        # Both comparisons are always made, so that the time does not reveal a correct name.
        right = [
            hmac.compare_digest(a.encode(), b.encode())
            for a, b in zip(credentials_sent, (name, password), strict=True)
        ]
        if all(right):
            login_user(_User())
            session["auth_error"] = None
            return redirect(url_for("locust.index"))  # type: ignore[return-value]
        gevent.sleep(_REFUSED_S)
        session["auth_error"] = "Unknown name or password"
        return redirect(url_for("locust.login"))  # type: ignore[return-value]

    app.add_url_rule(path, "sitebench_login", log_in, methods=["POST"])
