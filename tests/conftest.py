"""Fixtures for all tests; a package adds its own fixtures beside its tests."""

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
    """Refuses every import of Locust, in a test or in a module that a test imports.

    Locust patches the sockets and threads of its process with gevent's. The connection between
    pytest-xdist and its workers then fails with LoopExit in the next test.
    """

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "locust":
            raise ImportError("Locust patches the test process; see tests/support/in_locust.py")


sys.meta_path.insert(0, NoLocust())

# On a busy machine one example may take long, which makes no property false.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

BRIEF = {"monitor", "options", "runs", "seeders", "suite_base", "tables", "targets", "verdict"}
"""Folders of short tests; none of their files takes a quarter of a minute."""

# Behind `&` a shell starts programs with Ctrl-C ignored, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Ensure that no process outlives this run and its xdist workers."""
    if not hasattr(config, "workerinput"):
        watching = watcher()

        def end() -> None:
            watching.communicate()

        config.add_cleanup(end)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exclude the collected items from garbage collection, which would visit each of them."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order brief files last, so that all processes of a run end at about the same time."""
    items.sort(key=lambda item: item.path.parent.name in BRIEF)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Print the time limit for waiting tests."""
    marker = item.get_closest_marker("timeout")
    ends_within(float(marker.args[0] if marker else item.config.getini("timeout")))


@pytest.fixture(scope="session")
def slapd() -> Path:
    """Return the OpenLDAP server."""
    return required_program("slapd")


@pytest.fixture(scope="session")
def ldapsearch() -> Path:
    """Return OpenLDAP's search client; its other clients are in the same folder."""
    return required_program("ldapsearch")


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")
