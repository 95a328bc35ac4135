"""What `locusts` forks a Locust from: it has imported Locust, and not what a locustfile imports."""

from locust.main import main as begin_locust  # First: Locust patches what it imports.

import gevent  # type: ignore[import-untyped] # isort: skip

from tests.support.locusts import begin


def main() -> None:
    """Run Locust."""
    gevent.reinit()
    begin()
    begin_locust()  # type: ignore[no-untyped-call]
