"""Logins at the embedded directory: passwords of people, and refusals."""

import itertools
import re
from pathlib import Path
from typing import Any

import ldap3
import pytest

import sitebench
from ils_bench import sequences
from ils_bench.targets import live, opening
from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.opening import say_if_clear
from sitebench import LdapDirectory
from sitebench.errors import BadInput
from sitebench.seeders import PROFILES, Profile
from tests.support.cli import in_process
from tests.support.serving import serving

LOCALES = ("en_US", "ru_RU")
BRIEF = (
    *("--users", "2", "--threads", "1", "--rate", "200"),
    *("--warmup", "0s", "--measure", "1s", "--json"),
)
PEOPLE = 50
SLOW = ("crypt:1000", "pbkdf2-sha256:1000", "pbkdf2-sha512:1000", "argon2:64k:1")
"""The fastest setting of each."""


def binds(url: str, dn: str, password: str) -> bool:
    connection = ldap3.Connection(url, dn, password)
    try:
        return bool(connection.bind())
    finally:
        connection.unbind()


def test_verify_reports_another_hash_pool() -> None:
    who = ("--profile", "person", "--locales", ",".join(LOCALES), "--entries", str(PEOPLE))
    with LdapDirectory(
        PEOPLE, profile="person", hash="crypt:1000", hash_pool=10, locales=LOCALES
    ) as directory:
        where = (f"{directory.url}/{directory.base}", *who, "--hash", "crypt:1000")
        ran = in_process("ils", "verify", *where)
    ran.check(1, "check --seed and --hash")


@pytest.mark.parametrize(
    ("profile", "hashed"),
    [
        *itertools.product(["person", "posix", "ad"], ["clear", "ssha", "ssha512"]),
        *(("person", each) for each in SLOW),
    ],
)
def test_embedded_directory_checks_passwords(profile: Profile, hashed: str) -> None:
    with LdapDirectory(PEOPLE, profile=profile, hash=hashed, locales=LOCALES) as directory:
        people = directory.people
        assert people is not None
        for person in (0, 7, PEOPLE - 1):
            dn, password = people.dn(person), people.password(person)
            assert binds(directory.url, dn, password)
            assert not binds(directory.url, dn, people.password(person - 1 if person else 1))
            for stored in people.entry(person)[1].get("userPassword", []):
                assert binds(directory.url, dn, stored.decode()) == (hashed == "clear")
        connection = ldap3.Connection(directory.url, auto_bind=True)
        connection.search(directory.base, "(objectClass=person)", attributes=["*"])
        shown = connection.response or []
        connection.unbind()
    assert len(shown) == PEOPLE
    hidden = {"userPassword", "unicodePwd"}
    assert not any(hidden & set(each["attributes"]) for each in shown)


@pytest.mark.parametrize("profile", PROFILES)
def test_directory_of_each_profile_is_measured_with_logins(profile: Profile) -> None:
    with LdapDirectory(PEOPLE, profile=profile, locales=LOCALES) as directory:
        who = ("--target", directory.url, "--profile", profile, "--locales", ",".join(LOCALES))
        point = in_process("ils", "run", "lookup", *who, "--entries", PEOPLE, *BRIEF).point
    assert (point["failures"], point["ops_per_s"] > 0) == (0, True)


@pytest.mark.parametrize("operation", ["lookup", "add", "retrieve"])
def test_started_target_has_people_with_passwords(operation: str) -> None:
    who = ("--profile", "posix", "--entries", PEOPLE, "--locales", ",".join(LOCALES))
    assert in_process("ils", "run", operation, *who, *BRIEF).point["failures"] == 0


def test_address_with_the_papers_schema_has_people_without_passwords() -> None:
    with LdapDirectory(0, locales=LOCALES) as directory:
        where = f"{directory.url}/ou=Dynamic,o=Intranet"
        asked = ("--entries", "20", "--locales", "en_US")
        made = in_process("ils", "seed", "--to", where, *asked).check(0)
        assert "profile" not in made.err
        connection = ldap3.Connection(directory.url, auto_bind=True)
        assert connection.search(directory.base, "(objectClass=RTPerson)")
        connection.unbind()


def test_server_that_stores_a_hash_as_cleartext_is_detected() -> None:
    """389-DS and ApacheDS do so with an unknown hash."""
    asked = ("--entries", "20", "--locales", "en_US", "--profile", "person")
    with LdapDirectory(0, locales=LOCALES) as directory:
        where = f"{directory.url}/ou=Dynamic,o=Intranet"
        assert in_process("ils", "seed", "--to", where, *asked).code == 0
        assert in_process("ils", "verify", where, *asked).code == 0
        with LdapDirectory(20, profile="person", locales=("en_US",)) as same:
            assert same.people is not None
            dn, attributes = same.people.entry(0)
        taken = b"{CLEARTEXT}" + attributes["userPassword"][0]
        connection: Any = ldap3.Connection(directory.url, auto_bind=True)
        assert connection.modify(dn, {"userPassword": [(ldap3.MODIFY_REPLACE, [taken])]})
        connection.unbind()
        found = in_process("ils", "verify", where, *asked)
    found.check(
        1, "does not know {SSHA}: it lets 'uid=user.0,ou=Dynamic,o=Intranet' in", "--hash clear"
    )


@pytest.mark.parametrize("profile", ["person", "posix", "ad"])
def test_ldif_file_with_passwords_is_written_and_verified(tmp_path: Path, profile: str) -> None:
    asked = ("--entries", "40", "--locales", "en_US,ja_JP", "--profile", profile)
    path = tmp_path / "people.ldif"
    assert in_process("ils", "seed", "--to", path, *asked, "--hash", "ssha512").code == 0
    text = path.read_text()
    assert ("unicodePwd" if profile == "ad" else "userPassword: {SSHA512}") in text
    # The hash does not affect the identity of people.
    assert in_process("ils", "verify", path, *asked).code == 0
    path.write_text(text.replace("employeeNumber: 7\n", "employeeNumber: 8\n"))
    assert in_process("ils", "verify", path, *asked).code == 1


def test_python_program_measures_people_with_passwords() -> None:
    with LdapDirectory(PEOPLE, profile="posix", locales=LOCALES) as directory:
        found = sitebench.run("lookup", directory, users=2, threads=1, warmup_s=0, measure_s=0.5)
    assert found.failures == 0
    assert found.ops_per_s > 0


def test_estimated_duration_of_a_seeding_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    # This directory is faster than the threshold for the message.
    monkeypatch.setattr(live, "_WORTH_SAYING_S", 0.0)
    with LdapDirectory(0, locales=LOCALES) as directory:
        where = f"{directory.url}/ou=Dynamic,o=Intranet"
        asked = ("--entries", "5k", "--locales", "en_US", "--profile", "person")
        made = in_process("ils", "seed", "--to", where, *asked)
        # With the base.
        assert directory.stats()["adds"] == 5_001
    said = re.search(r"2,899 more people take about \S+, at ([\d,]+) a second as the", made.err)
    assert said is not None, made.err
    assert int(said[1].replace(",", "")) > 100


def test_serve_suggests_a_login_that_works() -> None:
    asked = ("--locales", "ru_RU", "--entries", "20", "--profile")
    with serving("ils", *asked, "posix") as (process, lines):
        assert process.stdout is not None
        login = process.stdout.readline()
        assert all(map(str.isascii, [*lines, login]))
        url, dn, password = (login.split(f" {flag} ")[1].split()[0] for flag in ("-H", "-D", "-w"))
        assert binds(url, dn, password)
        assert "--profile posix" in lines[2]


def test_impossible_passwords_are_refused() -> None:
    for argv, said in (
        (("--hash", "ssha"), "people of the profile paper have no passwords"),
        (("--profile", "person", "--hash", "md5"), '--hash: there is no hash "md5"'),
        (("--profile", "person", "--hash", "pbkdf2-sha256"), "write it like pbkdf2-sha256:600000"),
        (("--profile", "person", "--hash", "crypt:0"), "write 1000 to 10000000"),
        (("--profile", "person", "--hash", "argon2:4000g"), "takes 4,000.0 GiB of memory for each"),
        (("--profile", "ad", "--hash", "crypt"), "Active Directory takes no {CRYPT}"),
    ):
        in_process("ils", "seed", "--to", "-", "--entries", "1", *argv).check(2, said)


def test_logins_of_people_without_passwords_are_refused_with_a_profile(tmp_path: Path) -> None:
    (tmp_path / "login.toml").write_text(
        'data.person = { people = "seeded" }\n'
        '[[operation]]\nbind = "{person.dn}"\npassword = "{person.password}"\n'
    )
    load = ("--users", "1", "--warmup", "0s", "--measure", "300ms", "--entries", "20")
    ran = in_process("ils", "run", "login.toml", *load, "--locales", "en_US", cwd=tmp_path).check(
        2, 'data "person" has no column "password": people have dn', "log in with --profile person"
    )
    assert "report this" not in ran.err


@pytest.mark.usefixtures("slapd")
def test_slapd_target_is_refused_for_the_ad_profile(tmp_path: Path) -> None:
    asked = ("--entries", "10", "--profile", "ad", "--locales", "en_US")
    in_process("ils", "seed", "--to", f"slapd:{tmp_path / 'ad'}", *asked).check(
        2, "a slapd has no users of Active Directory"
    )


def test_users_of_active_directory_are_added_only_over_tls() -> None:
    load = ("--users", "1", "--warmup", "0s", "--measure", "300ms", "--entries", "20")
    argv = ("ils", "run", "add", *load, "--profile", "ad", "--locales", "en_US")
    in_process(*argv).check(2, "which Active Directory takes over TLS only")
    assert in_process(*argv, "--start-tls").code == 0


@pytest.mark.parametrize("operation", ["lookup", "retrieve", "ils-user", "add", "connect"])
def test_printed_scenario_of_an_operation_filters_by_the_profile(operation: str) -> None:
    text = sequences.text_of(operation, "posix")
    assert "RTPerson" not in text
    assert ".cn}" not in text
    if operation == "lookup":
        assert '"(&(objectClass=posixAccount)(uid={person.uid}))"' in text
    of_papers = sequences.built_in(operation, "paper")
    assert sequences.built_in(operation, "posix").counted_rows == of_papers.counted_rows


def test_register_is_refused_for_profiles_other_than_ils_and_paper() -> None:
    with pytest.raises(BadInput, match="do not register with an Internet Locator Server"):
        sequences.built_in("register", "person")


# Passwords that are sent over a network without TLS are reported.


@pytest.mark.parametrize(
    ("host", "scheme", "said"),
    [
        ("192.0.2.1", "ldap", "passwords go to ldap://192.0.2.1:389 in the clear: use ldaps://"),
        ("192.0.2.1", "ldaps", ""),
        ("192.0.2.1", START_TLS, ""),
        ("127.0.0.1", "ldap", ""),
    ],
)
def test_cleartext_passwords_over_a_network_are_reported(
    host: str, scheme: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say_if_clear(DirectoryAddress(host, 389, scheme))
    shown = " ".join(capsys.readouterr().err.split())
    assert said in shown
    assert bool(said) == bool(shown)


@pytest.mark.parametrize(("operation", "times"), [("login", 1), ("connect", 0)])
def test_cleartext_passwords_are_reported_once_per_run(
    operation: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local directory is treated as a remote one."""
    monkeypatch.setattr(opening, "on_loopback", lambda _: False)
    with LdapDirectory(10, profile="person", locales=("en_US",), one_password="one") as directory:
        accounts = tmp_path / "accounts.csv"
        accounts.write_text("uid,password\nuser.0,one\n")
        more = ("--accounts", accounts) if operation == "login" else ()
        short = ("--users", "1", "--rate", "50", "--warmup", "0s", "--measure", "300ms")
        at = ("--target", f"{directory.url}/{directory.base}")
        ran = in_process("ils", "run", operation, *at, *more, *short).check(0)
    assert ran.err.count("in the clear") == times
