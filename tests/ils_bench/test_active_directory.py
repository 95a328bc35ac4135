"""Logins and groups with `--profile ad`, searched as Active Directory clients do."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ldap3
import pytest

from sitebench import LdapDirectory
from tests.ils_bench.conftest import LOCALES
from tests.support.programs import run_program
from tests.support.serving import serving

SUFFIX = "dc=example,dc=com"
BITS, CHAIN = "1.2.840.113556.1.4.803", "1.2.840.113556.1.4.1941"
LOGIN = "user.12"
DISABLED = f"(userAccountControl:{BITS}:=2)"

LOGINS = {
    "Gitea": "(&(objectCategory=Person)(memberOf={group})(sAMAccountName={login})"
    f"(!{DISABLED}))",
    "Gitea, administrators": "(&(sAMAccountName={login})(memberOf={group}))",
    "GitLab": f"(&(sAMAccountName={{login}})(memberOf:{CHAIN}:={{root}}))",
    "Grafana": "(sAMAccountName={login})",
    "Jenkins, principal names": "(&(userPrincipalName={login}@example.com)(objectCategory=user))",
    "Jenkins, account names": "(&(objectCategory=User)(sAMAccountName={login}))",
    "Nextcloud": "(&(&(|(objectclass=person))(|(|(memberof={group})(primaryGroupID=513))))"
    "(|(samaccountname={login})(|(mailPrimaryAddress={login})(mail={login}@example.com))))",
    "Nextcloud, enabled": f"(&(objectClass=user)(samaccountname={{login}})(!{DISABLED}))",
    "Open Liberty": "(&(sAMAccountName={login})(objectcategory=user))",
    "account types": "(&(sAMAccountType=805306368)(sAMAccountName={login}))",
}
"""The filters in the manuals of these clients, with login and groups filled in."""


@pytest.fixture(scope="module")
def directory() -> Iterator[LdapDirectory]:
    """People in two groups of ten, which belong to a third."""
    with LdapDirectory(
        40, suffix=SUFFIX, profile="ad", groups=3, depth=2, locales=("en_US",)
    ) as directory:
        yield directory


@pytest.fixture
def names(directory: LdapDirectory) -> dict[str, str]:
    people, base = directory.people, directory.base
    assert people is not None
    group, root = (f"CN=group.{number},{base}" for number in (1, 0))
    return {"login": LOGIN, "dn": people.dn(12), "group": group, "root": root}


def search(directory: LdapDirectory, text: str, *attributes: str) -> list[dict[str, Any]]:
    """Return DN and attributes of the matches that ldap3 reads."""
    with ldap3.Connection(ldap3.Server(directory.url, get_info=ldap3.NONE)) as connection:
        connection.search(SUFFIX, text, attributes=list(attributes))
        assert connection.response is not None
        return [entry for entry in connection.response if entry["type"] == "searchResEntry"]


def ldapsearch_dns(ldapsearch: Path, directory: LdapDirectory, text: str) -> list[str]:
    where = ("-LLL", "-o", "ldif_wrap=no", "-H", directory.url, "-b", SUFFIX)
    shown = run_program((ldapsearch, "-x", *where, text, "dn"), check=True).stdout
    return re.findall(r"^dn: (.*)$", shown, re.MULTILINE)


@pytest.mark.parametrize("program", LOGINS)
def test_login_filter_of_each_manual_matches_only_the_named_user(
    program: str, directory: LdapDirectory, names: dict[str, str], ldapsearch: Path
) -> None:
    text = LOGINS[program].format(**names)
    assert [entry["dn"] for entry in search(directory, text)] == [names["dn"]]
    assert ldapsearch_dns(ldapsearch, directory, text) == [names["dn"]]
    stranger = LOGINS[program].format(**names | {"login": "nobody"})
    assert search(directory, stranger) == []


def test_nested_groups_match_the_search_of_grafana(
    directory: LdapDirectory, names: dict[str, str], ldapsearch: Path
) -> None:
    nested = f"(member:{CHAIN}:={names['dn']})"
    groups = [names["root"], names["group"]]
    assert sorted(entry["dn"] for entry in search(directory, nested)) == groups
    assert sorted(ldapsearch_dns(ldapsearch, directory, nested)) == groups
    direct = search(directory, f"(&(cn=group.1)(objectCategory=group)(member={names['dn']}))")
    assert [entry["dn"] for entry in direct] == [names["group"]]


def test_member_of_lists_exactly_the_groups_of_which_an_entry_is_a_member(
    directory: LdapDirectory,
) -> None:
    entries = search(directory, "(sAMAccountName=*)", "memberOf", "member")
    members = {
        (member, entry["dn"]) for entry in entries for member in entry["attributes"]["member"]
    }
    shown = {(entry["dn"], group) for entry in entries for group in entry["attributes"]["memberOf"]}
    assert len(members) == 22
    assert shown == members


def test_ldap3_reads_the_same_identities_as_sitebench(
    directory: LdapDirectory, names: dict[str, str]
) -> None:
    server = ldap3.Server(directory.url, get_info=ldap3.ALL)
    with ldap3.Connection(server) as connection:
        assert server.info.other["defaultNamingContext"] == [SUFFIX]
        connection.search(SUFFIX, f"(sAMAccountName={LOGIN})", attributes=["*"])
        (entry,) = connection.entries
        # ldap3 formats the attributes by their names, as for a domain controller.
        assert entry.objectSid.value.startswith("S-1-5-21-")
        assert entry.objectGUID.value.count("-") == 4
        assert entry.distinguishedName.value == names["dn"]
        connection.search(SUFFIX, f"(objectSid={entry.objectSid.value})")
        assert [match.entry_dn for match in connection.entries] == [names["dn"]]


@pytest.mark.parametrize("name", [f"{LOGIN}@example.com", f"EXAMPLE\\{LOGIN}", "{dn}"])
def test_every_form_of_login_name_is_accepted_in_a_bind(
    name: str, directory: LdapDirectory, names: dict[str, str]
) -> None:
    people = directory.people
    assert people is not None
    for password, accepted in ((people.password(12), True), (people.password(13), False)):
        connection = ldap3.Connection(directory.url, name.format(**names), password)
        assert connection.bind() is accepted
        connection.unbind()


def test_serve_lists_unsupported_features_once() -> None:
    asked = ("--profile", "ad", "--entries", "5", "--locales", ",".join(LOCALES))
    with serving("ils", *asked) as (process, lines):
        url = lines[0].split(" at ")[1].split(",")[0]
        server = ldap3.Server(url, get_info=ldap3.NONE)
        with ldap3.Connection(server) as connection:
            for _ in range(2):
                connection.search("o=Intranet", "(cn:1.2.3:=x)", attributes=["pwdLastSet"])
        process.terminate()
        assert process.stdout is not None
        printed = process.stdout.read().splitlines()
    assert [line for line in printed if line.startswith("clients")] == [
        f"clients ask for the {name}, which this server does not have"
        for name in ("matching rule 1.2.3", "attribute pwdLastSet")
    ]
