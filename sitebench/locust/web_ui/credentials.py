"""The name and the password of --web-login: from a file or the environment, never an argument."""

from __future__ import annotations

from sitebench.errors import BadInput
from sitebench.locust.web_ui.options import LOGIN_VARIABLE
from sitebench.system import secret


def credentials(file: str | None) -> tuple[str, str]:
    """Read them; raises when there are none."""
    text = secret.given(file, "login file", LOGIN_VARIABLE) or ""
    name, _, password = text.partition(":")
    if not (name and password):
        raise BadInput(
            f"--web-login finds no NAME:PASSWORD in {file or f'${LOGIN_VARIABLE}'}",
            f"write it into a file and name that with --login-file, or set ${LOGIN_VARIABLE}",
        )
    return name, password
