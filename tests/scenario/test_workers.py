"""Workers run a scenario: the master sends its text, and each reads its own copy of the data."""

import contextlib
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.system.network import free_port
from tests.scenario.people import BASE, SUFFIX, write_accounts, write_ldif
from tests.support.cli import Ran, in_process
from tests.support.workers import Workers, forked_workers

MIX = f"""
base = "{BASE}"
data.person.file = "accounts.csv"
data.person.deal = "in-order"

[[operation]]
search = "(uid={{person.uid}})"
expect.entries = 1
"""


def worker(folder: Path, port: int) -> AbstractContextManager[Workers]:
    return forked_workers(folder, f"127.0.0.1:{port}")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    found = [tmp_path / name for name in ("master", "one", "two")]
    for each in found:
        each.mkdir()
        write_accounts(each)
    (found[0] / "mix.toml").write_text(MIX)
    return found


def measured(folders: list[Path]) -> Ran:
    master, *others = folders
    port = free_port()
    ldif = write_ldif(master)
    with LdapDirectory(0, ldif=ldif, suffix=SUFFIX) as directory, contextlib.ExitStack() as running:
        for each in others:
            running.enter_context(worker(each, port))
        load = ("--users", "4", "--threads", "1", "--think", "2ms", "--warmup", "0s", "--json")
        workers = ("--measure", "1s", "--workers", "2", "--bind", f"127.0.0.1:{port}")
        argv = ("ils", "run", "mix.toml", "--target", directory.url, *load, *workers)
        return in_process(*argv, cwd=master)


def test_two_workers_run_the_load_of_a_scenario_file(folders: list[Path]) -> None:
    (point,) = measured(folders).check(0).objects
    assert point["failures"] == 0
    by_worker = [each["operations"] for each in point["workers"]]
    assert len(by_worker) == 2
    assert min(by_worker) > 0
    assert sum(by_worker) == point["operations"]


def test_worker_with_data_unlike_the_masters_is_refused(folders: list[Path]) -> None:
    write_accounts(folders[2], 99)
    ran = measured(folders)
    assert ran.code != 0
    assert "the data 'person' of mix.toml: its content differs" in ran.err


def test_worker_without_the_data_is_refused(folders: list[Path]) -> None:
    shutil.move(folders[2] / "accounts.csv", folders[2] / "elsewhere.csv")
    ran = measured(folders)
    assert ran.code != 0
    assert "cannot read accounts.csv" in ran.err
