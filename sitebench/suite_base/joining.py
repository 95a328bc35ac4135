"""Registration of a suite with Locust, done once by the locustfile."""

from __future__ import annotations

from typing import Any

from locust import events

from sitebench.errors import SitebenchError, exit_with
from sitebench.locust.bridge import Bridge
from sitebench.options.convert import add_arguments, set_locust_defaults
from sitebench.suite_base.suite_run import BaseSuiteRun


def join(title: str, suite_run: type[BaseSuiteRun[Any, Any, Any]]) -> None:
    """Add the options of a suite to Locust, under `title`, and its lanes to each environment."""

    def add(parser: Any, **_: Any) -> None:
        add_arguments(parser, suite_run.points.locust_options, title)
        set_locust_defaults(parser)

    def begin(environment: Any, **_: Any) -> None:
        try:
            run = suite_run(environment)
            bridge = Bridge(environment, run)
            if environment.web_ui is not None:
                # Imported late: the import takes 0.1 s, and points do not need the web page.
                from sitebench.locust.web_ui.setup import set_up_web_ui

                set_up_web_ui(bridge, run.session, suite_run.points.locust_options)
        except SitebenchError as error:
            exit_with(error)

    # Locust's hooks are untyped.
    hooks: Any = events
    hooks.init_command_line_parser.add_listener(add)
    hooks.init.add_listener(begin)
