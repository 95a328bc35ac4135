"""The live page, its data, and the downloads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, jsonify, make_response, request
from gevent import subprocess  # type: ignore[import-untyped]
from gevent.lock import BoundedSemaphore  # type: ignore[import-untyped]
from locust.web import WebUI
from msgspec import structs

from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.locust.preparing import run_in_thread
from sitebench.locust.web_ui.live import Interval, Usage
from sitebench.locust.web_ui.session import Session
from sitebench.locust.web_ui.state import State, WebUiState, title
from sitebench.report.page import asset as report_asset
from sitebench.report.sections.trust import in_words
from sitebench.system.programs import python_module
from sitebench.system.scratch import scratch
from sitebench.system.secret import without_secrets

_ASSETS = Path(__file__).parent / "assets"
_DARK_ONLY = "@media screen and (prefers-color-scheme: dark)"
_REPORT_S = 120.0


def blueprint(web_ui: WebUI, state: WebUiState, base_path: str | None) -> Blueprint:
    """Return our part of Locust's web server, behind its login, if any."""
    routes = Blueprint("sitebench", __name__, url_prefix=f"{base_path or ''}/sitebench")
    session = state.session
    protected: Any = web_ui.auth_required_if_enabled
    one_report = BoundedSemaphore()

    def page(path: str, view: Any) -> None:
        routes.add_url_rule(path, view.__name__, protected(view))

    def live() -> str:
        return _page("live.html", request.args.get("theme"))

    def live_data() -> Response:
        return jsonify(document(state.now(), session, request.args))

    def script(name: str) -> Response:
        return Response(_asset(f"{name}.js"), mimetype="text/javascript")

    def run() -> Response:
        with scratch() as folder:
            copy = folder / "ui.sitebench"
            session.snapshot(copy)
            return _attachment(
                run_in_thread(copy.read_bytes), "application/vnd.sqlite3", "ui.sitebench"
            )

    def report() -> Response:
        with scratch() as folder:
            with one_report:
                content = _report(session, folder)
            if "download" in request.args:
                return _attachment(content, "text/html", "ui.html")
            return Response(content, mimetype="text/html")

    def answer_error(error: SitebenchError) -> Response:
        return Response(f"{error}\n", status=500, mimetype="text/plain")

    routes.register_error_handler(SitebenchError, answer_error)
    page("/live", live)
    page("/live.json", live_data)
    page("/<any(frame, live):name>.js", script)
    page("/run", run)
    page("/report", report)
    return routes


def document(state: State, session: Session, query: Any) -> dict[str, Any]:
    """Return the data of the live page; series have only values that the page has not got yet."""
    n, after = len(session.tests), -1.0
    if query.get("test") == str(n):
        with contextlib.suppress(ValueError):
            after = float(query.get("after", after))
    live = state.live
    return {
        "test": n,
        "title": state.title,
        "word": state.word,
        "busy": state.preparing is not None or (state.test is not None and not state.final),
        "preparing": None if state.preparing is None else state.preparing.to_json(),
        "findings": list(_findings(state)),
        "bound": None if state.result is None else state.result.verdict.to_json(),
        "quoted": None if state.result is None else in_words(state.result),
        "steps": live.steps() if live else [],
        "resources": [structs.asdict(resource) for resource in live.resources] if live else [],
        "moments": _columns(Interval, (m for m in live.moments if m.at_s > after) if live else ()),
        "loads": _columns(Usage, (m for m in live.loads if m.at_s > after) if live else ()),
        "tests": [
            {
                "title": title(test.spec),
                "per_s": None if test.result is None else test.result.ops_per_s,
                "quoted": None if test.result is None else in_words(test.result),
                "error": None if test.error is None else str(test.error),
            }
            for test in session.tests
        ],
    }


def _findings(state: State) -> Iterator[dict[str, str]]:
    if (error := state.error) is not None:
        yield {"what": "Error", "message": error.message, "remedy": error.remedy}
    if (result := state.result) is not None:
        for warning in result.verdict.warnings:
            yield {"what": warning.kind, "message": warning.message, "remedy": warning.remedy}


def _columns(kind: type[Interval] | type[Usage], rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Return rows by column, so that names are sent once."""
    rows = list(rows)
    return {name: [_short(getattr(row, name)) for row in rows] for name in kind.__struct_fields__}


def _short(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) and value >= 1 else value


def _page(name: str, theme: str | None) -> str:
    """Return a page in the report's style; dark if Locust's own page is dark."""
    style = report_asset("report.css")
    if theme in ("dark", "light"):
        style = style.replace(_DARK_ONLY, "@media all" if theme == "dark" else "@media not all")
        style = style.replace("color-scheme: light dark", f"color-scheme: {theme}")
    return _asset(name).replace("/* report.css */", style)


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _attachment(content: bytes, kind: str, name: str) -> Response:
    answer = make_response(content)
    answer.headers["Content-Type"] = kind
    answer.headers["Content-Disposition"] = f"attachment; filename={name}"
    return answer


def _report(session: Session, folder: Path) -> bytes:
    """Make the report in another process, as it takes a second of CPU, which lanes here need."""
    copy, page = folder / "ui.sitebench", folder / "ui.html"
    session.snapshot(copy)
    argv = [*python_module("sitebench.cli.main"), "report", str(copy), "--out", str(page)]
    try:
        process = subprocess.run(
            argv,
            env=without_secrets(os.environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=_REPORT_S,
        )
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(
            f"the report was not made within {_REPORT_S:.0f} s",
            "download the run file, and make it with `sitebench report`",
        ) from None
    if process.returncode:
        raise MeasurementFailed(
            str(process.stderr).strip().removeprefix("sitebench: "), "run a test first"
        )
    return run_in_thread(page.read_bytes)
