"""Options of every suite that tests a web site."""

from __future__ import annotations

from sitebench.errors import BadInput
from sitebench.frozen import frozen
from sitebench.options import option
from sitebench.suite_base.options import ScenarioOptions, SuiteTestOptions, target_option


@frozen
class LogOption:
    """What a server that is started here writes of its requests."""

    access_log: bool = option.flag(
        "Log of every request by a server that is started here, in the common format, as the "
        "papers' servers had it.",
        paired=True,
        panel="Advanced",
    )


def refuse_log(options: LogOption) -> None:
    """Raise where a server that runs already is to log."""
    if options.access_log:
        raise BadInput(
            "only a server that is started here is told to log its requests",
            "leave --access-log out, or turn the log of your server on yourself",
        )


@frozen
class SiteTestOptions(LogOption, ScenarioOptions, SuiteTestOptions):
    """A test of a site, but for its size."""

    target: str = target_option(
        "embedded", "Site to measure: embedded, or the http:// or https:// address of another."
    )
    keepalive: bool = option.flag(
        "One connection per user, instead of one per request as in 1997. A scenario file says so "
        "itself.",
        paired=True,
    )
    keepalive_given: bool = option.given("keepalive")
    client: str = option.choice(
        "native",
        "HTTP client: native, or Locust's fasthttp (portable, far slower).",
        *("native", "fasthttp"),
        panel="Advanced",
    )
