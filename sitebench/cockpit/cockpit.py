"""Joins Locust's web UI, the bridge and the session's run file."""

from __future__ import annotations

import argparse
import logging
from typing import Any
from urllib.parse import urlsplit

from flask import Response, jsonify, request
from locust.env import Environment
from locust.runners import STATE_RUNNING, STATE_SPAWNING, WorkerRunner

from sitebench.bridge import Bridge
from sitebench.cockpit import form
from sitebench.cockpit.login import credentials, require_login
from sitebench.cockpit.routes import blueprint
from sitebench.cockpit.session import Session
from sitebench.cockpit.state import Present
from sitebench.cockpit.tabs import add_rows, template_args
from sitebench.errors import SitebenchError
from sitebench.options import SessionOptions, from_namespace

log = logging.getLogger("sitebench")

SCRIPT = b'<script src="./sitebench/frame.js" defer></script></body>'


def session_of(environment: Environment) -> Session | None:
    """Return a run file for all tests of a process that a person commands; others have none."""
    if isinstance(environment.runner, WorkerRunner) or environment.parsed_options is None:
        return None
    chosen = from_namespace(SessionOptions, environment.parsed_options)
    if chosen.out is None and environment.web_ui is None:
        return None
    session = Session(chosen.out)

    def closing(**_: Any) -> None:
        if said := session.close():
            log.warning("%s", said)

    events: Any = environment.events
    events.quit.add_listener(closing)
    return session


def open_cockpit(bridge: Bridge, session: Session | None, options: type[Any]) -> None:
    """Give Locust's web UI what is ours; `options` are those of the half's form."""
    environment: Environment = bridge.environment
    web_ui, parsed = environment.web_ui, environment.parsed_options
    if web_ui is None or session is None or parsed is None:
        return
    present = Present(bridge, session)
    base_path = parsed.web_base_path
    app: Any = web_ui.app
    if web_ui.web_login:
        chosen = from_namespace(SessionOptions, parsed)
        require_login(web_ui, base_path, *credentials(chosen.login_file))
    app.register_blueprint(blueprint(web_ui, present, base_path))
    web_ui.template_args.update(template_args())

    def before() -> Response | tuple[str, int] | None:
        if request.method != "POST":
            return None
        if _from_elsewhere():
            return "a page from elsewhere may not command tests\n", 403
        if request.endpoint == "locust.swarm" and (web_ui.web_login is False or _logged_in()):
            why = _refused(bridge, options, request.form.to_dict(), parsed)
            return None if why is None else jsonify({"success": False, "message": why})
        return None

    def after(response: Response) -> Response:
        if response.status_code == 200 and request.endpoint == "locust.request_stats":
            add_rows(response, present.state())
        elif response.status_code == 200 and request.endpoint == "locust.index":
            response.set_data(response.get_data().replace(b"</body>", SCRIPT))
        return response

    app.before_request(before)
    app.after_request(after)


def _from_elsewhere() -> bool:
    """Return whether a page of another site posts: Locust lets every site's pages do so."""
    origin = request.headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != request.host


def _logged_in() -> bool:
    from flask_login import current_user  # type: ignore[import-untyped]

    return bool(current_user.is_authenticated)


def _refused(
    bridge: Bridge, options: type[Any], posted: dict[str, str], parsed: argparse.Namespace
) -> str | None:
    """Return why a test cannot be started, or changed, as asked."""
    if bridge.preparing is not None:
        return "the target is still being made ready: wait, or stop the test"
    if why := form.refused(options, posted, parsed):
        return why
    if bridge.runner.state in (STATE_SPAWNING, STATE_RUNNING):
        return form.changed(options, posted, parsed)
    try:
        bridge.workload.check(form.options(options, posted, parsed))
    except SitebenchError as error:
        return str(error)
    return None
