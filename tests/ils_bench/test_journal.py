import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ils_bench.targets import journal
from sitebench.seeders.people import Spec
from tests.ils_bench.conftest import in_ended_process
from tests.support.waiting import left_s

ASKED: dict[str, Any] = {"people": Spec(1, locales=("en_US",)), "bind_dn": None, "keys": 1_000}


def test_reservation_is_one_line_in_the_state_folder_until_it_is_released(state: Path) -> None:
    reservation = journal.reserve("ldap://a:389", **ASKED)
    assert list(journal.entries()) == [reservation]
    (path,) = (state / "sitebench" / "journal").iterdir()
    assert path.read_text().count("\n") == 1
    journal.release(reservation)
    assert not list(journal.entries())


ALL = {**ASKED, "keys": journal.ROOM}
"""So many keys that only one position is possible."""


def test_reservations_of_one_directory_never_overlap() -> None:
    first, second = (journal.reserve("ldap://a:389", **ALL) for _ in range(2))
    elsewhere = journal.reserve("ldap://b:389", **ALL)
    assert first.start == elsewhere.start == journal.FIRST_ADDED
    assert second.start == first.stop


def test_independent_runs_add_different_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = set()
    for person in range(20):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / str(person)))
        made = journal.reserve("ldap://a:389", **ASKED)
        assert journal.FIRST_ADDED <= made.start < journal.FIRST_ADDED + journal.ROOM
        assert (made.start - journal.FIRST_ADDED) % ASKED["keys"] == 0
        starts.add(made.start)
    # There are nine million possible positions.
    assert len(starts) == 20


RESERVING = f"""
from ils_bench.targets import journal
from sitebench.seeders.people import Spec
for _ in range(25):
    journal.reserve("ldap://a:389", **{ALL!r})
"""


def test_concurrent_reservations_never_overlap() -> None:
    runs = [subprocess.Popen([sys.executable, "-c", RESERVING]) for _ in range(4)]
    assert [each.wait(left_s()) for each in runs] == [0] * 4
    found = sorted((each.start, each.stop) for each in journal.entries())
    assert [start for start, _ in found[1:]] == [stop for _, stop in found[:-1]]
    assert len(found) == 4 * 25


def test_reservation_of_a_dead_process_is_listed_until_released() -> None:
    made = journal.reserve("ldap://a:389", **ASKED)
    assert journal.unfinished_reservation(os.getpid()) == made
    assert journal.unfinished_reservation(os.getppid()) is None
    journal.release(made)
    assert journal.unfinished_reservation(os.getpid()) is None


def test_gap_left_by_a_finished_run_is_reused() -> None:
    first, second, third = (journal.reserve("ldap://a:389", **ALL) for _ in range(3))
    journal.release(second)
    again = journal.reserve("ldap://a:389", **ALL)
    assert (again.start, again.stop) == (second.start, second.stop)
    assert first.stop == again.start
    assert third.start == again.stop


def test_only_reservations_of_dead_processes_are_abandoned() -> None:
    mine = journal.reserve("ldap://a:389", **ASKED)
    in_ended_process(journal.reserve, "ldap://a:389", **ASKED)
    abandoned = [entry for entry in journal.entries() if entry.is_abandoned]
    assert len(abandoned) == 1
    assert mine not in abandoned


def test_damaged_journal_is_not_changed(state: Path) -> None:
    made = journal.reserve("ldap://a:389", **ASKED)
    (state / "sitebench" / "journal" / "broken.json").write_text("{")
    assert list(journal.entries()) == [made]


def test_seeded_range_is_reserved_unchanged_despite_remains_of_a_crash() -> None:
    for _ in range(2):
        made = journal.reserve("ldap://a:389", **ASKED, first=300)
        assert (made.start, made.stop) == (300, 1_300)
