"""Options of a Locust session that a user controls, and of its command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitebench.options import option
from sitebench.options.option import Placement
from sitebench.system import secret

# These options are set when Locust is started, never by the page.
_START: Final[Placement] = {"panel": "Web UI", "local": True, "form": False}


@dataclass(frozen=True)
class SessionOptions:
    out: str | None = option.file(
        "Run file for all tests of the session (default: a new one in this folder).",
        panel="Output",
        local=True,
        form=False,
    )
    login_file: str | None = option.file(
        f"File with NAME:PASSWORD for --web-login (default: ${secret.UI_LOGIN}).", **_START
    )
    browser: bool = option.flag("Web UI opened in the browser.", **_START)


@dataclass(frozen=True)
class UiOptions(SessionOptions):
    """Options of `ui`, in addition to those that set the first values of the form."""

    warmup: float = option.duration(0.0, "Warm-up before the measured window: shown, not counted.")
    measure: float | None = option.duration(
        None, "Length of the measured window (default: until the test is stopped)."
    )
    web_host: str = option.text(
        "127.0.0.1",
        "Address of the web UI; on any but loopback, its token is sent unencrypted.",
        "HOST",
        panel="Web UI",
        locust=False,
    )
    web_port: int = option.count(
        8089, "Port of the web UI.", "PORT", at_most=65_535, panel="Web UI", locust=False
    )
    web_login: bool = option.flag(
        "Login with the name and password in --login-file.", panel="Web UI", locust=False
    )
    browser: bool = option.flag("Web UI opened in the browser.", default=True, **_START)
