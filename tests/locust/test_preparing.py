"""Work beside the hub: what it raises is said by whoever waits for it, and it ends with them."""

import threading
import time
from collections.abc import Iterator

import gevent  # type: ignore[import-untyped]
import pytest

from sitebench.errors import NotYours
from sitebench.locust.preparing import Preparing, Progress, apart


@pytest.fixture(autouse=True)
def hub() -> Iterator[None]:
    """Leave no hub in this process."""
    yield
    gevent.get_hub().destroy()


def test_what_it_raises_is_raised_here_and_printed_nowhere(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work() -> None:
        raise NotYours("it is another's", "say that it is yours")

    with pytest.raises(NotYours, match="it is another's"):
        apart(work)
    assert capfd.readouterr().err == ""
    assert apart(lambda: 7) == 7


def test_it_ends_with_who_waits_for_it_and_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
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
    waiting = gevent.spawn(preparing.beside, work)
    with gevent.Timeout(30):
        while not begun.is_set():
            gevent.sleep(0.01)
        waiting.kill()
    assert ended.is_set()
    assert (preparing.done, preparing.total) == (1, 2)
    assert isinstance(waiting.value, gevent.GreenletExit)
    assert capfd.readouterr().err == ""
