"""Adds our pages, tabs and checks to Locust's web UI."""

from __future__ import annotations

import contextlib
import functools
import html
import logging
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any

import gevent  # type: ignore[import-untyped]
from flask import Response, request
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from sitebench.locust.bridge import Bridge
from sitebench.locust.web_ui import login
from sitebench.locust.web_ui.guard import Guard
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.locust.web_ui.routes import blueprint
from sitebench.locust.web_ui.session import Session
from sitebench.locust.web_ui.starting import cannot_listen
from sitebench.locust.web_ui.state import WebUiState
from sitebench.locust.web_ui.tabs import draw_form, keep_polling, template_args, without_tasks
from sitebench.measure.command import say
from sitebench.options.convert import from_namespace
from sitebench.options.option import OneOf, fields_of
from sitebench.system.network import page_url
from sitebench.system.scratch import scratch

log = logging.getLogger("sitebench")

_REDIRECT = """\
<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={page}">
<title>sitebench</title>
<a href="{page}">Open the web UI</a>
"""
_SCRIPT = b'<script src="./sitebench/frame.js"></script></body>'


def set_up_web_ui(bridge: Bridge, session: Session | None, options: type[Any]) -> None:
    """Extend Locust's web UI, if any; `options` has the options of the suite's form."""
    environment: Environment = bridge.environment
    web_ui, parsed = environment.web_ui, environment.parsed_options
    if web_ui is None or session is None or parsed is None:
        return
    _list_options_once()
    token = None if web_ui.web_login else login.token()
    state = WebUiState(bridge, session)
    base_path = parsed.web_base_path
    app: Any = web_ui.app
    if web_ui.web_login:
        storage = from_namespace(SessionOptions, parsed)
        login.require_login(web_ui, base_path, *login.credentials(storage.login_file))
    app.register_blueprint(blueprint(web_ui, state, base_path))
    web_ui.template_args.update(template_args())
    # Fields are in the order of the command line, not of their names.
    app.jinja_env.policies["json.dumps_kwargs"] = {"sort_keys": False}
    users: Mapping[str, Any] = environment.available_user_classes or {}
    lane_names = {user.__name__ for user in bridge.suite_run.lane_classes(users.values())}
    mixed = len(lane_names) < len(users)
    draw_form(web_ui, options, mixed=mixed)
    if not mixed:
        # The page shows the host at the top. Locust gives this host to every class, so it is not
        # set if the file also has other classes, whose hosts may differ.
        environment.host = environment.host or parsed.target
    web_ui.template_args["all_profiles"] = _profiles(options)
    path = f"{base_path or ''}/{'' if token is None else f'?token={token}'}"
    scheme = "https" if web_ui.tls_cert else "http"
    address = page_url(web_ui.host, web_ui.port, path, scheme=scheme)
    _serve_or_end(environment, functools.partial(_announce, environment, session, address, token))
    events: Any = environment.events
    events.quitting.add_listener(_leave_out_empty_tables)

    def add_headers(response: Response) -> Response:
        if response.status_code == 200 and request.endpoint == "locust.request_stats":
            keep_polling(response, bridge)
        elif response.status_code == 200 and request.endpoint == "locust.index":
            page = response.get_data().replace(b"</body>", _SCRIPT)
            response.set_data(page.replace(b"<title>Locust</title>", b"<title>sitebench</title>"))
        elif response.status_code == 200 and request.endpoint == "locust.tasks":
            without_tasks(response, lane_names)
        # Only Locust's page may show the live page in a frame.
        live = request.endpoint == "sitebench.live"
        policy = "frame-ancestors 'self'" if live else "frame-ancestors 'none'"
        if request.endpoint == "sitebench.report":
            # If --out continued a stranger's run file, the report shows texts of a stranger. So a
            # sandbox gives the report an origin of its own.
            policy += "; sandbox allow-scripts allow-popups allow-downloads"
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Frame-Options"] = "SAMEORIGIN" if live else "DENY"
        response.headers["Referrer-Policy"] = "same-origin"
        return response

    app.before_request(Guard(bridge, options, parsed, token))
    app.after_request(add_headers)


def _serve_or_end(environment: Environment, announce: Callable[[], None]) -> None:
    """End Locust with one line if its port was taken since the command checked it."""
    web_ui: Any = environment.web_ui
    serve = web_ui.start_server

    def start_server() -> None:
        # `announce` runs when the server waits for its first request.
        announcement = gevent.spawn(announce)
        try:
            serve()
        except OSError as error:
            announcement.kill()
            failure = cannot_listen(web_ui.host, web_ui.port, error)
            log.error("%s", failure)
            environment.process_exit_code = failure.exit_code

    web_ui.start_server = start_server


def _announce(environment: Environment, session: Session, page: str, token: str | None) -> None:
    say(f"web UI: {page} (Ctrl-C to stop)")
    say(f"results: {session.store.path}")
    assert environment.parsed_options is not None
    if from_namespace(SessionOptions, environment.parsed_options).browser:
        gevent.spawn(_show, environment, page, token)


def _leave_out_empty_tables(environment: Environment, **_: Any) -> None:
    """Suppress Locust's tables of a session without a test."""
    logging.getLogger("locust.stats_logger").disabled = not environment.stats.total.num_requests


def _list_options_once() -> None:
    """Make Locust list its options once: 18,000 listings per page would take 0.2 s of a core."""
    parser: Any = LocustArgumentParser
    listed = getattr(parser, "args_included_in_web_ui", None)
    if isinstance(listed, property) and listed.fget is not None:
        once = functools.cached_property(listed.fget)
        once.__set_name__(parser, "args_included_in_web_ui")
        parser.args_included_in_web_ui = once


def _profiles(options: type[Any]) -> list[str]:
    """Return the choices of Locust's own field `profile`, if the suite has such an option."""
    parsers = {field.name: spec.parse for field, spec in fields_of(options)}
    profile = parsers.get("profile")
    return list(profile.allowed) if isinstance(profile, OneOf) else []


def _show(environment: Environment, page: str, token: str | None) -> None:
    """Open the page by a redirecting file: other users could read a token in an argument."""
    gevent.sleep(0.2)  # The hub can serve the page while this greenlet waits.
    opened = page
    if token is not None:
        files = contextlib.ExitStack()
        events: Any = environment.events
        events.quit.add_listener(lambda **_: files.close())
        file = files.enter_context(scratch()) / "sitebench.html"
        file.touch(0o600)
        file.write_text(_REDIRECT.format(page=html.escape(page)), encoding="utf-8")
        opened = file.as_uri()
    if not webbrowser.open(opened):
        log.warning("no browser found on this machine: open %s in a browser", page)
