"""`sitebench ils clean` of several directories: contacted addresses and passwords."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ils_bench.targets import clean, journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.target import OpenDirectory
from sitebench import LdapDirectory
from sitebench._engine import Directory, first_person, seed_directory
from sitebench.seeders.people import Spec, generate
from tests.ils_bench.conftest import in_ended_process
from tests.support.cli import in_process

ADMIN = "cn=admin"


@pytest.fixture
def listeners() -> Iterator[list[socket.socket]]:
    """Two listeners that record everything that clients send."""
    with (
        socket.create_server(("127.0.0.1", 0)) as first,
        socket.create_server(("127.0.0.1", 0)) as second,
    ):
        yield [first, second]


def address(listener: socket.socket) -> str:
    return f"ldap://127.0.0.1:{listener.getsockname()[1]}"


def leave(targets: list[str], bind_dn: str | None = ADMIN) -> None:
    """Have processes that ended leave people in directories."""
    people = Spec(1, locales=("en_US",))
    for target in targets:
        in_ended_process(journal.reserve, target, people, bind_dn=bind_dn, keys=100)
    assert all(each.is_abandoned for each in journal.entries())


def asked(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_one_password_is_not_sent_to_two_directories(listeners: list[socket.socket]) -> None:
    leave([address(each) for each in listeners])
    ran = in_process("ils", "clean", SITEBENCH_BIND_PASSWORD="sesame").check(
        2, "one password is given"
    )
    assert all(f"{ADMIN} at {address(each)}" in ran.err for each in listeners)
    assert not any(map(asked, listeners))


def test_clean_contacts_only_the_named_directory(listeners: list[socket.socket]) -> None:
    here, elsewhere = listeners
    gone = address(here)
    leave([gone, address(elsewhere)])
    here.close()
    ran = in_process("ils", "clean", "--target", gone, SITEBENCH_BIND_PASSWORD="sesame").check(
        1, f"nothing answers at {gone}", f"sitebench ils clean --forget --target {gone}"
    )
    assert address(elsewhere) not in ran.err
    assert not asked(elsewhere)


def test_forget_is_refused_for_a_reachable_directory() -> None:
    with LdapDirectory(entries=0, admin_dn=ADMIN, admin_password="sesame") as directory:
        there = directory.url
        leave([there])
        ran = in_process("ils", "clean", "--target", there, SITEBENCH_BIND_PASSWORD="wrong")
    assert ran.code != 0
    assert there in ran.err
    assert "--forget" not in ran.err


def test_people_added_without_a_bind_dn_are_removed_anonymously() -> None:
    leave(["ldap://127.0.0.1:9"], None)
    in_process("ils", "clean", "--target", "ldap://127.0.0.1:9", "--bind-dn", ADMIN).check(
        2, "the people left at ldap://127.0.0.1:9 were added anonymously", f"not by {ADMIN}"
    )


def test_forget_drops_reservations_of_an_unreachable_directory(
    listeners: list[socket.socket],
) -> None:
    gone, there = map(address, listeners)
    leave([gone, there])
    in_process("ils", "clean", "--forget", "--target", gone).check(
        0,
        f"{gone}: forgot the people that the run of ",
        "added under ou=Dynamic,o=Intranet; those who are there stay",
    )
    assert [each.target for each in journal.entries()] == [there]
    assert not any(map(asked, listeners))


def test_forget_needs_a_target_and_cannot_be_combined_with_removal_of_seeded_people() -> None:
    leave(["ldap://127.0.0.1:9"])
    in_process("ils", "clean", "--forget").check(2, "--forget does not say which directory")
    both = ("--forget", "--seeded", "--target", "ldap://127.0.0.1:9")
    in_process("ils", "clean", *both).check(2, "--seeded does not go with it")
    assert len(list(journal.entries())) == 1


KEYS = 1_000_000
ROOT = 2
"""Entries above people: suffix and base."""


@contextmanager
def serving(**limits: int) -> Iterator[Directory]:
    """Yield a directory; only suffix and base are left in it at the end."""
    directory = Directory(json.dumps({"limits": limits}))
    yield directory
    assert directory.stats()["entries"] == ROOT
    directory.stop()


def added(directory: Directory, *ranges: tuple[int, int]) -> OpenDirectory:
    """Leave people with these keys, counted from the first added key."""
    stop = journal.FIRST_ADDED + KEYS
    spec = Spec(stop, locales=("en_US",))
    address = f"ldap://{directory.address}"
    target = OpenDirectory(address, parse_address(address), spec.base)
    for start, end in ranges:
        first, last = (journal.FIRST_ADDED + key for key in (start, end))
        seed_directory(target.to_engine(), generate(spec).population, first, last)
    keys = {"keys": KEYS, "first": journal.FIRST_ADDED}
    in_ended_process(journal.reserve, address, spec, bind_dn=None, **keys)
    return target


def test_clean_sends_about_one_delete_per_remaining_person() -> None:
    with serving() as directory:
        added(directory, (0, 14_443))
        in_process("ils", "clean").check(0, "removed 14,443 people")
        assert 14_443 <= directory.stats()["deletes"] < 1.15 * 14_443
    assert not list(journal.entries())


def test_clean_needs_only_a_few_more_deletes_for_people_behind_a_gap() -> None:
    with serving() as directory:
        added(directory, (5, 3_000), (11_500, 12_000))
        in_process("ils", "clean").check(0, "removed 3,495 people")
        assert directory.stats()["deletes"] < 3_495 + 3 * 1_000


def test_people_that_cannot_be_searched_for_are_deleted_by_their_dns() -> None:
    with serving(filter_bytes=4) as directory:
        target = added(directory, (0, 1_500))
        (left,) = journal.entries()
        assert clean.remove(left, target) == 1_500


def test_clean_finds_the_first_existing_person() -> None:
    with serving() as directory:
        target = added(directory, (700, 800), (900, 1_000))
        config, first = target.to_engine(), journal.FIRST_ADDED
        people = generate(Spec(first + KEYS, locales=("en_US",))).population
        for start, person in ((0, 700), (750, 750), (800, 900), (1_000, None)):
            key = first_person(config, people, first + start, first + 5_000)
            assert key == (None if person is None else first + person)
        in_process("ils", "clean").check(0)


@pytest.mark.parametrize("entry_in_filters", [True, False])
def test_last_people_of_a_run_are_removed_behind_unused_keys_of_a_block(
    entry_in_filters: bool,
) -> None:
    """All people but the last of the second thread have left by themselves, as in `register`."""
    block, per_thread = clean.KEYS_OF_A_THREAD, (200, 20)
    blocks = 42
    last = (blocks + 1) * block + per_thread[1]
    with serving(**({} if entry_in_filters else {"filter_bytes": 4})) as directory:
        target = added(directory, (last - 2, last))
        (left,) = journal.entries()
        keys = blocks * block + sum(per_thread)
        count = clean.Added(keys, keys, len(per_thread) * block)
        assert clean.remove(left, target, added=count) == 2
