"""Fixtures of all tests; each package adds its own beside its tests."""

import gc
import signal
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.leftovers import watcher
from tests.support.programs import required_program
from tests.support.waiting import ends_within


class NoLocust(MetaPathFinder):
    """Refuses to import Locust, at the import that asks for it, in a test or in what it imports.

    Locust patches sockets and threads of its process with gevent's. The connection between
    pytest-xdist and its workers then fails with LoopExit, in whichever test runs next.
    """

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "locust":
            raise ImportError("Locust patches the test process; see tests/support/in_locust.py")


sys.meta_path.insert(0, NoLocust())

# A machine that is busy with something else makes one example take long, and no property false.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

BRIEF = {"monitor", "options", "runs", "seeders", "suite_base", "tables", "targets", "verdict"}
"""Rooms whose tests start little; no file of theirs takes a quarter of a minute."""

# Behind `&` a shell starts programs with Ctrl-C ignored, and what they start ignores it too.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Have nothing outlive this run; xdist's workers are part of it."""
    if not hasattr(config, "workerinput"):
        watching = watcher()

        def end() -> None:
            watching.communicate()

        config.add_cleanup(end)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep all these objects out of collections of garbage, which would look at each of them."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put brief files last: the processes of a run end together, and none of them works alone."""
    items.sort(key=lambda item: item.path.parent.name in BRIEF)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell those who wait how long they may."""
    marker = item.get_closest_marker("timeout")
    ends_within(float(marker.args[0] if marker else item.config.getini("timeout")))


@pytest.fixture(scope="session")
def slapd() -> Path:
    """Return the OpenLDAP server."""
    return required_program("slapd")


@pytest.fixture(scope="session")
def ldapsearch() -> Path:
    """Return OpenLDAP's search client; the others lie beside it."""
    return required_program("ldapsearch")


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")
