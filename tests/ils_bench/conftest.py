"""Real directories for the tests of the directory suite."""

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.target import OpenDirectory
from sitebench.seeders.people import Spec
from tests.support import stock_slapd
from tests.support.stock_slapd import StockSlapd

LOCALES = ("en_US", "de_DE", "ja_JP")
PEOPLE = 300


def in_ended_process(act: Callable[..., object], *args: object, **more: object) -> None:
    """Run a function in a process that ends: its reservations are abandoned."""
    process = multiprocessing.get_context("fork").Process(target=act, args=args, kwargs=more)
    process.start()
    process.join()


@pytest.fixture(scope="session")
def openldap(slapd: Path) -> Iterator[OpenDirectory]:
    """A slapd that holds 300 people in three scripts and lets everyone write."""
    target = open_openldap(IlsOptions(), Spec(PEOPLE, locales=LOCALES))
    yield target
    target.close()


@pytest.fixture(scope="module")
def running_stock(slapd: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StockSlapd]:
    with stock_slapd.running(tmp_path_factory.mktemp("stock")) as server:
        yield server


@pytest.fixture
def stock(running_stock: StockSlapd) -> Iterator[StockSlapd]:
    """A slapd with its stock schema and without an entry."""
    yield running_stock
    running_stock.empty()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a separate journal."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"
