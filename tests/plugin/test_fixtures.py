"""The pytest fixtures: a real server for each test, as marked, which ends with the test."""

import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import ldap3
import pytest
from ldap3.core.exceptions import LDAPExceptionError

from sitebench import LdapDirectory, PersonalizedSite
from sitebench.errors import BadInput

ENGLISH = ("en_US",)


def names_in(directory: LdapDirectory) -> int:
    """Count the people that a client finds."""
    with ldap3.Connection(directory.url) as connection:
        found = connection.extend.standard.paged_search(
            directory.base, "(cn=*)", attributes=["cn"], paged_size=500
        )
        return len(list(found))


def test_directory_of_a_test_has_a_thousand_people_by_default(
    ldap_directory: LdapDirectory,
) -> None:
    assert names_in(ldap_directory) == 1_000


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.ldap_directory(entries=3, locales=ENGLISH)
def test_entries_added_by_a_test_are_hidden_from_other_tests(
    ldap_directory: LdapDirectory, turn: int
) -> None:
    assert names_in(ldap_directory) == 3
    with ldap3.Connection(ldap_directory.url) as connection:
        entry = f"cn=turn {turn},{ldap_directory.base}"
        assert connection.add(entry, "person", {"sn": "x"})  # type: ignore[no-untyped-call]
    assert names_in(ldap_directory) == 4


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.ldap_directory(entries=5, locales=ENGLISH, profile="posix", hash="ssha512")
def test_people_of_a_directory_log_in_and_change_passwords(
    ldap_directory: LdapDirectory, turn: int
) -> None:
    people = ldap_directory.people
    assert people is not None
    dn, password = people.dn(2), people.password(2)
    with ldap3.Connection(ldap_directory.url, dn, password) as connection:
        assert connection.extend.standard.who_am_i() == f"dn:{dn}"
        changed = {"userPassword": [(ldap3.MODIFY_REPLACE, [f"other {turn}"])]}
        assert connection.modify(dn, changed)  # type: ignore[no-untyped-call]
    again = ldap3.Connection(ldap_directory.url, dn, password)
    assert not again.bind()
    again.unbind()


@pytest.fixture(scope="module")
def staff(ldap_directory_factory: Callable[..., LdapDirectory]) -> LdapDirectory:
    return ldap_directory_factory(entries=5, locales=ENGLISH)


_shared: set[int] = set()


@pytest.mark.parametrize("turn", [1, 2])
def test_several_tests_can_share_a_directory(staff: LdapDirectory, turn: int) -> None:
    _shared.add(staff.port)
    assert len(_shared) == 1
    assert names_in(staff) == 5


@pytest.mark.ldap_directory(entries=7, locales=ENGLISH)
class TestMarkersOfAClass:
    def test_options_of_a_marked_class_apply_to_its_tests(
        self, ldap_directory: LdapDirectory
    ) -> None:
        assert names_in(ldap_directory) == 7

    @pytest.mark.ldap_directory(entries=2)
    def test_options_of_a_test_override_those_of_its_class(
        self, ldap_directory: LdapDirectory
    ) -> None:
        assert names_in(ldap_directory) == 2


@pytest.mark.user_property_db(entries=20, locales=ENGLISH)
def test_test_gets_its_own_writable_database(user_property_db: Path) -> None:
    with sqlite3.connect(user_property_db) as database:
        (before,) = database.execute("SELECT count(*) FROM people").fetchone()
        database.execute("DELETE FROM people WHERE id = 1")
        (after,) = database.execute("SELECT count(*) FROM people").fetchone()
    database.close()
    assert (before, after) == (20, 19)


@pytest.mark.personalized_site(entries=20, locales=ENGLISH)
def test_test_gets_a_running_site(personalized_site: PersonalizedSite) -> None:
    asked = urllib.request.Request(personalized_site.url, headers={"Cookie": "user=7"})
    with urllib.request.urlopen(asked) as page:
        assert len(page.read()) == 8_290


def test_misspelt_argument_of_a_fixture_is_refused_with_the_right_name(
    ldap_directory_factory: Callable[..., LdapDirectory],
    personalized_site_factory: Callable[..., PersonalizedSite],
) -> None:
    with pytest.raises(BadInput, match=r"LdapDirectory has no 'entris'; did you mean entries\?"):
        ldap_directory_factory(entris=5)
    with pytest.raises(BadInput, match="PersonalizedSite has no 'colour'; it has entries, databa"):
        personalized_site_factory(colour="red")


MISSPELT = """\
import pytest
from ldap3.core.exceptions import LDAPExceptionError


@pytest.mark.ldap_directory(entris=5)
def test_argument(ldap_directory): ...


@pytest.mark.ldap_directry(entries=5)
def test_marker(ldap_directory): ...


@pytest.mark.user_property_db(entries=20, local="en_US")
def test_database(user_property_db): ...


@pytest.mark.slow
@pytest.mark.ldap_directory(entries=5)
def test_other_marker(ldap_directory): ...
"""


def test_misspelt_marker_fails_its_test(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(MISSPELT)
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore")
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 errors" in ended.stdout, ended.stdout
    assert "1 passed" in ended.stdout
    assert "has no 'entris'; did you mean entries?" in ended.stdout
    assert "unknown marker 'ldap_directry'; did you mean ldap_directory?" in ended.stdout
    assert "user_property_db has no 'local'; did you mean locales?" in ended.stdout


SCHEMA = """\
attributetype ( 1.3.6.1.4.1.99999.1 NAME 'badgeNumber' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
objectclass ( 1.3.6.1.4.1.99999.2 NAME 'badged' SUP top AUXILIARY MUST badgeNumber )
"""


def test_directory_accepts_a_user_defined_schema(
    ldap_directory_factory: Callable[..., LdapDirectory], tmp_path: Path
) -> None:
    schema = tmp_path / "badges.schema"
    schema.write_text(SCHEMA)
    classes, attributes = ["person", "badged"], {"sn": "Lee", "badgeNumber": 7}
    for argument, written in ({"schema": schema}, True), ({}, False):
        directory = ldap_directory_factory(entries=0, **argument)
        with ldap3.Connection(ldap3.Server(directory.url)) as connection:
            entry = ("cn=Ann,o=Intranet", classes, attributes)
            if written:
                assert connection.add(*entry)  # type: ignore[no-untyped-call]
            else:
                with pytest.raises(LDAPExceptionError, match="badge"):
                    connection.add(*entry)  # type: ignore[no-untyped-call]
