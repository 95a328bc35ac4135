"""Work in a thread: its exceptions reach the waiting greenlet, and it ends with that greenlet."""

import threading
import time
from collections.abc import Iterator

import gevent  # type: ignore[import-untyped]
import pytest

from sitebench.errors import NotYours
from sitebench.locust.preparing import Preparing, Progress, run_in_thread


@pytest.fixture(autouse=True)
def hub() -> Iterator[None]:
    """Remove the gevent hub of this process."""
    yield
    gevent.get_hub().destroy()


def test_exceptions_of_a_preparation_are_raised_and_not_printed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work() -> None:
        raise NotYours("it is another's", "say that it is yours")

    with pytest.raises(NotYours, match="it is another's"):
        run_in_thread(work)
    assert capfd.readouterr().err == ""
    assert run_in_thread(lambda: 7) == 7


def test_preparation_ends_with_its_greenlet(capfd: pytest.CaptureFixture[str]) -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        try:
            while True:
                progress(1, 2)
                begun.set()
                time.sleep(0.01)
        finally:
            ended.set()

    preparing = Preparing()
    waiting = gevent.spawn(preparing.run_with_progress, work)
    with gevent.Timeout(30):
        while not begun.is_set():
            gevent.sleep(0.01)
        waiting.kill()
    assert ended.is_set()
    assert (preparing.done, preparing.total) == (1, 2)
    assert isinstance(waiting.value, gevent.GreenletExit)
    assert capfd.readouterr().err == ""
