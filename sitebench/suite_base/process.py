"""What points are forked from: a process that has imported Locust, and what the suites measure."""

from __future__ import annotations

from pkgutil import resolve_name

from sitebench.locust.process import main as run_locust  # First: Locust patches what it imports.

import gevent  # type: ignore[import-untyped] # isort: skip

import sitebench.suite_base.joining
import sitebench.suite_base.scenario_user
import sitebench.suite_base.suite_run  # noqa: F401
from sitebench.suite import suites

for _suite in suites():
    resolve_name(_suite.points)


def main() -> None:
    """Run Locust in a fork."""
    gevent.reinit()
    run_locust()
