"""Workers run a scenario: the master sends its text, and each reads its own copy of the data."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.scenario.people import BASE, Place, write_accounts
from tests.support.workers import Workers, forked_workers

MIX = f"""
base = "{BASE}"
data.person.file = "accounts.csv"
data.person.deal = "in-order"

[[operation]]
search = "(uid={{person.uid}})"
expect.entries = 1
"""
LOAD = (
    *("--users", "4", "--threads", "1", "--think", "2ms"),
    *("--warmup", "0s", "--measure", "1s", "--json"),
)


def worker(folder: Path, port: int) -> AbstractContextManager[Workers]:
    return forked_workers(folder, f"127.0.0.1:{port}")


def test_two_workers_run_the_load_of_a_scenario_file(place: Place) -> None:
    place.write(MIX)
    (point,) = place.with_workers(*LOAD).check(0).objects
    assert point["failures"] == 0
    by_worker = [each["operations"] for each in point["workers"]]
    assert len(by_worker) == 2
    assert min(by_worker) > 0
    assert sum(by_worker) == point["operations"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (99, "the data 'person' of mix.toml: its content differs"),
        (None, "cannot read accounts.csv"),
    ],
    ids=["unlike the master's", "missing"],
)
def test_worker_without_the_masters_data_is_refused(
    rows: int | None, message: str, place: Place
) -> None:
    place.write(MIX)
    second = place.folder / "two"
    second.mkdir()
    if rows is not None:
        write_accounts(second, rows)
    place.with_workers(*LOAD).check(2, message)
