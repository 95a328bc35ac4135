"""Options of a Locust that a person commands, and of the command that starts one."""

from __future__ import annotations

from dataclasses import dataclass

from sitebench import units
from sitebench.options.option import option, whole
from sitebench.system import secret

LOGIN_VARIABLE = secret.UI_LOGIN


@dataclass(frozen=True)
class SessionOptions:
    """What a Locust takes that a person commands, beside its tests."""

    out: str | None = option(
        None,
        "Run file to record every test of this session in; a web UI's is else gone at its end.",
        metavar="FILE",
        panel="Output",
        identity=False,
        form=False,
    )
    login_file: str | None = option(
        None,
        f"File with NAME:PASSWORD for --web-login; or set ${LOGIN_VARIABLE}.",
        metavar="FILE",
        panel="Web UI",
        identity=False,
        form=False,
    )
    browser: bool = option(
        False, "Open the web UI in the browser.", panel="Web UI", identity=False, form=False
    )


@dataclass(frozen=True)
class UiOptions(SessionOptions):
    """What `ui` takes besides the first values of the form."""

    warmup: float = option(
        0.0,
        "Time before the measured window; kept and marked, never counted.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    measure: float | None = option(
        None,
        "Length of the measured window; by default until the test is stopped.",
        parse=units.parse_duration,
        show=units.format_duration,
        metavar="TIME",
    )
    web_host: str = option(
        "127.0.0.1",
        "Address of the page; others than loopback let everybody in who reaches it.",
        metavar="HOST",
        panel="Web UI",
        locust=False,
    )
    web_port: int = option(
        8089, "Port of the page.", parse=whole(1), metavar="PORT", panel="Web UI", locust=False
    )
    web_login: bool = option(
        False, "Ask for a name and a password; see --login-file.", panel="Web UI", locust=False
    )
    browser: bool = option(
        True, "Open the web UI in the browser.", panel="Web UI", identity=False, form=False
    )
