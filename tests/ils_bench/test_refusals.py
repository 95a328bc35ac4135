"""A directory that refuses adds: the message, and that no person remains."""

import os
import threading
from pathlib import Path

import pytest

from ils_bench.targets import journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.probe import connect
from sitebench.seeders.people import Spec
from sitebench.targets.ownership import FLAG
from tests.ils_bench.conftest import in_ended_process
from tests.support.cli import in_process
from tests.support.ldap_server import OTHER, refusing

BASE = "ou=people,dc=example,dc=com"
WORDS = "\x1b[2J\x1b]0;pwned\x07line1\nline2\r\x85\u202eend " + "x" * 5_000
FEW = ("--base", BASE, "--entries", "10", "--locales", "en_US")


@pytest.mark.parametrize("command", ["seed", "run"])
def test_refused_first_add_is_one_line_without_control_characters_and_leaves_no_reservation(
    command: str, tmp_path: Path
) -> None:
    with refusing(BASE, WORDS) as url:
        where = ("--to", url) if command == "seed" else ("lookup", "--target", url)
        ran = in_process("ils", command, *where, *FEW, FLAG, cwd=tmp_path)
    ran.check(2, "refuses to add")
    assert "sitebench ils clean" not in ran.err
    assert not list(journal.entries())
    assert r"insufficientAccessRights (50), \x1b[2J\x1b]0;pwned\x07line1\nline2\r" in ran.err
    assert all(each.isprintable() for each in ran.err.splitlines())
    assert len(ran.err) < 2_500
    (said,) = [each for each in ran.err.splitlines() if "insufficient" in each]
    assert said.startswith("sitebench: ")


def test_run_of_refused_adds_leaves_no_reservation(tmp_path: Path) -> None:
    with refusing(BASE, "no", OTHER) as url:
        # With --names, no people are added first.
        adds = ("ils", "run", "add", "--target", url, "--names", "cn=user.{i}", *FEW)
        brief = ("--users", "2", "--rate", "200", "--warmup", "0s", "--measure", "500ms")
        ran = in_process(*adds, *brief, cwd=tmp_path)
        cleaned = in_process("ils", "clean", "--target", url)
    ran.check(1, "result:other x ", '"no"')
    assert "sitebench ils clean" not in ran.err
    assert (cleaned.code, cleaned.err) == (0, "nothing to clean up\n")


def test_refused_delete_is_reported_once_and_can_be_forgotten() -> None:
    with refusing(BASE, "no", OTHER) as url:
        people = Spec(1, locales=("en_US",), base=BASE)
        in_ended_process(journal.reserve, url, people, bind_dn=None, keys=100)
        ran = in_process("ils", "clean", "--target", url)
        assert (ran.code, ran.err.count("refuses to delete")) == (1, 1)
        assert f"sitebench ils clean --forget --target {url}" in ran.err.splitlines()[-1]
        forgotten = in_process("ils", "clean", "--forget", "--target", url)
        assert f"{url}: forgot the people that the run of " in forgotten.err
        assert in_process("ils", "clean").err == "nothing to clean up\n"


def test_more_people_than_the_directory_has_are_refused_before_the_load() -> None:
    with LdapDirectory(1) as directory:
        with connect(parse_address(directory.url)) as connection:
            for i in range(3):
                connection.add(f"cn=user.{i},{directory.base}", "person", {"sn": "User"})
        where = ("ils", "run", "lookup", "--target", directory.url, "--names", "cn=user.{i}")
        short = ("--users", "1", "--rate", "200", "--warmup", "0s", "--measure", "500ms")
        assert in_process(*where, "--entries", "3", *short).code == 0
        ran = in_process(*where, "--entries", "4", *short)
    ran.check(2, "has no 'cn=user.3' below 'ou=Dynamic,o=Intranet'", "--entries")


@pytest.mark.parametrize("command", ["run", "verify"])
def test_unreadable_directory_is_not_reported_as_empty(command: str) -> None:
    with LdapDirectory(10, locales=("en_US",), require_bind=True) as directory:
        where = ("lookup", "--target", directory.url) if command == "run" else (directory.url,)
        ran = in_process("ils", command, *where, "--entries", "10", "--locales", "en_US")
    ran.check(2, "does not show 'ou=Dynamic,o=Intranet': insufficientAccessRights", "--bind-dn")


def test_connects_are_measured_below_any_base() -> None:
    with LdapDirectory(1, suffix="dc=example,dc=com", locales=("en_US",)) as directory:
        where = ("--target", directory.url, "--base", "ou=wrong,dc=example,dc=com")
        short = ("--users", "1", "--warmup", "0s", "--measure", "500ms", "--rate", "50")
        connects = in_process("ils", "run", "connect", *where, *short, "--json")
        lookups = in_process("ils", "run", "lookup", *where, *short, FLAG)
    assert connects.code == 0, connects.err
    assert connects.objects[0]["operations"] > 0
    assert (lookups.code, "has no entry 'ou=wrong" in lookups.err) == (2, True)


def test_password_file_may_be_a_pipe(tmp_path: Path) -> None:
    """As with `<(pass show ldap)`: a pipe gives its content once, and processes need it again."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with LdapDirectory(
        5, locales=("en_US",), admin_dn="cn=admin", admin_password="s3cret"
    ) as theirs:
        writer = threading.Thread(target=pipe.write_text, args=("s3cret\n",), daemon=True)
        writer.start()
        where = ("--target", theirs.url, "--bind-dn", "cn=admin", "--password-file", str(pipe))
        short = ("--users", "1", "--warmup", "0s", "--measure", "500ms", "--rate", "50")
        ran = in_process("ils", "run", "connect", *where, *short)
        writer.join(10)
    assert ran.code == 0, ran.err
