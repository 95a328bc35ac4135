"""`sitebench ils clean` of several directories: which it asks, and with which password."""

import multiprocessing
import socket
from collections.abc import Iterator

import pytest

from ils_bench.seeding import journal
from seeders.people import Spec
from sitebench import LdapDirectory
from tests.support.cli import in_process

ADMIN = "cn=admin"


@pytest.fixture
def listeners() -> Iterator[list[socket.socket]]:
    """Two places that are told whatever a client tells them."""
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    yield found
    for each in found:
        each.close()


def address(listener: socket.socket) -> str:
    return f"ldap://127.0.0.1:{listener.getsockname()[1]}"


def reserve(targets: list[str], bind_dn: str | None) -> None:
    for target in targets:
        journal.reserve(target, Spec(1, locales=("en_US",)), bind_dn=bind_dn, keys=100)


def leave(targets: list[str], bind_dn: str | None = ADMIN) -> None:
    """Have a process that has ended leave people in directories."""
    ended = multiprocessing.get_context("fork").Process(target=reserve, args=(targets, bind_dn))
    ended.start()
    ended.join()
    assert all(each.abandoned for each in journal.entries())


def asked(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_one_password_is_not_sent_to_two_directories(listeners: list[socket.socket]) -> None:
    leave([address(each) for each in listeners])
    ran = in_process("ils", "clean", SITEBENCH_BIND_PASSWORD="sesame")
    assert ran.code == 2
    assert "one password is given" in ran.err
    assert all(f"{ADMIN} at {address(each)}" in ran.err for each in listeners)
    assert not any(map(asked, listeners))


def test_only_the_directory_that_is_named_is_asked(listeners: list[socket.socket]) -> None:
    here, elsewhere = listeners
    gone = address(here)
    leave([gone, address(elsewhere)])
    here.close()
    ran = in_process("ils", "clean", "--target", gone, SITEBENCH_BIND_PASSWORD="sesame")
    assert ran.code == 1
    assert f"nothing answers at {gone}" in ran.err
    assert f"sitebench ils clean --forget --target {gone}" in ran.err
    assert address(elsewhere) not in ran.err
    assert not asked(elsewhere)


def test_a_directory_that_answers_is_not_taken_for_gone() -> None:
    with LdapDirectory(entries=0, admin_dn=ADMIN, admin_password="sesame") as directory:
        there = directory.url
        leave([there])
        ran = in_process("ils", "clean", "--target", there, SITEBENCH_BIND_PASSWORD="wrong")
    assert ran.code != 0
    assert there in ran.err
    assert "--forget" not in ran.err


def test_people_who_were_added_without_a_name_were_added_anonymously() -> None:
    leave(["ldap://127.0.0.1:9"], None)
    ran = in_process("ils", "clean", "--target", "ldap://127.0.0.1:9", "--bind-dn", ADMIN)
    assert ran.code == 2
    assert f"these people were added anonymously, not by {ADMIN}" in ran.err


def test_a_directory_that_is_gone_is_forgotten(listeners: list[socket.socket]) -> None:
    gone, there = map(address, listeners)
    leave([gone, there])
    ran = in_process("ils", "clean", "--forget", "--target", gone)
    assert ran.code == 0
    assert f"{gone}: forgot up to 100 people under ou=Dynamic,o=Intranet" in ran.err
    assert [each.target for each in journal.entries()] == [there]
    assert not any(map(asked, listeners))


def test_nothing_in_particular_is_not_forgotten() -> None:
    leave(["ldap://127.0.0.1:9"])
    ran = in_process("ils", "clean", "--forget")
    assert ran.code == 2
    assert "--forget does not say which directory" in ran.err
    assert len(list(journal.entries())) == 1


def test_what_is_forgotten_is_not_removed_too() -> None:
    target = ("--target", "ldap://127.0.0.1:9")
    ran = in_process("ils", "clean", "--forget", "--seeded", *target)
    assert ran.code == 2
    assert "--seeded does not go with it" in ran.err
