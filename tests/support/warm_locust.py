"""Locust, in a fork that has imported it, and not what a locustfile imports."""

from locust.main import main as run_locust  # First: Locust patches what it imports.

import gevent  # type: ignore[import-untyped] # isort: skip

from tests.support.warm import begin


def main() -> None:
    """Run Locust."""
    gevent.reinit()
    begin()
    run_locust()  # type: ignore[no-untyped-call]
