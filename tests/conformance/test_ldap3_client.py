"""ldap3, with its checks against the schema, works with the directory."""

import json
import warnings
from typing import Any

import ldap3
import pytest
from ldap3.core.exceptions import LDAPAttributeError, LDAPObjectClassError
from ldap3.utils.dn import escape_rdn

from tests.conformance.content import OFFICE_BASE
from tests.conformance.ldap3_client import Clients
from tests.conformance.served import Served
from tests.support.dynamic import refresh

ADA = f"cn=Ada Lovelace,{OFFICE_BASE}"
WHO_AM_I = "1.3.6.1.4.1.4203.1.11.3"
PERSON = ["top", "person", "organizationalPerson", "inetOrgPerson"]

# One name per script, with combining marks and directions that break careless code.
NAMES = [
    "Zoë Brontë-Ångström",
    "José Ñandú",
    "Łukasz Żółć",
    "Юрий Гагарин",
    "Ελένη Παπαδοπούλου",
    "山田 太郎",
    "김철수",
    "محمد عبد الله",
    "שרה כהן",
    "सीता शर्मा",
    "ณัฐพล ใจดี",
    "Nguyễn Văn An",
    "𠮷野 家",
    "e\u0301clair de\u0301compose\u0301",
    'Smith, John \\ "Jack" <#;=+> Jr.',
    "#Hash",
    "a" * 120,
]


@pytest.fixture
def client(server: Served, clients: Clients) -> Any:
    """A connection of the administrator that checks names against the schema."""
    return clients.checking(server)


@pytest.fixture
def people(client: Any, scratch: str) -> str:
    """A container with ten numbered people."""
    for i in range(10):
        attributes = {"cn": f"Person {i}", "sn": f"Number {i}", "uidNumber": i}
        classes = [*PERSON, "extensibleObject"]
        assert client.add(f"cn=Person {i},{scratch}", classes, attributes), client.result
    return scratch


def test_ldap3_parses_the_schema(server: Served, clients: Clients) -> None:
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        connection = clients.checking(server)
    assert [str(each.message) for each in complaints if "deprecated" not in str(each)] == []
    schema = connection.server.schema
    assert schema.object_classes["inetOrgPerson"].superior == ["organizationalPerson"]
    assert schema.attribute_types["cn"].syntax is None or schema.attribute_types["cn"].equality
    assert schema.attribute_types["uidNumber"].single_value
    assert schema.attribute_types["createTimestamp"].usage == "DIRECTORY_OPERATION"


# slapd hides some of the types and syntaxes that its classes and types name.
only_embedded = pytest.mark.parametrize("server", ["embedded"], indirect=True)


@only_embedded
def test_every_attribute_of_a_class_is_defined(client: Any) -> None:
    """A class that allows an undefined attribute breaks clients that check the schema."""
    schema = client.server.schema
    classes = [schema.object_classes[name] for name in schema.object_classes]
    attributes = {
        attribute
        for each in classes
        for attribute in [*(each.must_contain or []), *(each.may_contain or [])]
    }
    assert {name for name in attributes if name not in schema.attribute_types} == set()
    superiors = {superior for each in classes for superior in each.superior or []}
    assert {name for name in superiors if name not in schema.object_classes} == set()


@only_embedded
def test_every_type_has_a_listed_syntax_and_listed_matching_rules(client: Any) -> None:
    schema = client.server.schema
    types = [schema.attribute_types[name] for name in schema.attribute_types]
    assert all(each.syntax or each.superior for each in types)
    syntaxes = {each.syntax.split("{")[0] for each in types if each.syntax}
    assert {oid for oid in syntaxes if oid not in schema.ldap_syntaxes} == set()
    rules = {
        rule
        for each in types
        for rules in (each.equality, each.ordering, each.substring)
        for rule in rules or []
    }
    assert {rule for rule in rules if rule not in schema.matching_rules} == set()
    superiors = {superior for each in types for superior in each.superior or []}
    assert {name for name in superiors if name not in schema.attribute_types} == set()


def test_schema_and_root_dse_survive_serialisation_as_json(client: Any) -> None:
    assert json.loads(client.server.info.to_json())["raw"]["namingContexts"] == ["o=Intranet"]
    assert json.loads(client.server.schema.to_json())["raw"]["attributeTypes"]


def test_values_have_the_python_types_of_the_schema(client: Any, people: str) -> None:
    client.search(people, "(uidNumber=3)", attributes=["*", "+"])
    (found,) = client.response
    attributes = found["attributes"]
    assert attributes["uidNumber"] == 3
    assert attributes["createTimestamp"].tzinfo is not None
    assert attributes["hasSubordinates"] is False
    assert attributes["entryDN"] == found["dn"]


def test_ldap3_refuses_attributes_and_classes_missing_in_the_schema(
    client: Any, scratch: str
) -> None:
    with pytest.raises(LDAPAttributeError):
        client.search(OFFICE_BASE, "(nosuchattribute=x)")
    with pytest.raises(LDAPAttributeError):
        client.search(OFFICE_BASE, "(cn=x)", attributes=["nosuchattribute"])
    with pytest.raises(LDAPObjectClassError):
        client.add(f"cn=x,{scratch}", "nosuchclass")


@pytest.mark.parametrize("name", NAMES)
def test_name_in_any_script_is_added_and_renamed(client: Any, scratch: str, name: str) -> None:
    dn = f"cn={escape_rdn(name)},{scratch}"
    assert client.add(dn, PERSON, {"cn": name, "sn": name, "description": name}), client.result
    assert client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["*"])
    (entry,) = client.entries
    assert (entry.cn.value, entry.sn.value, entry.description.value) == (name, name, name)
    for filter_text in (f"(sn={_escaped(name)})", f"(sn={_escaped(name[:2])}*)"):
        assert client.search(scratch, filter_text, attributes=["cn"]), filter_text
        assert [each.cn.value for each in client.entries] == [name]
    assert client.compare(dn, "description", name)
    new_rdn = f"cn={escape_rdn(name[:200] + ' II')}"
    assert client.modify_dn(dn, new_rdn, delete_old_dn=True), client.result
    assert client.search(scratch, f"(cn={_escaped(name[:200])} II)")
    assert client.delete(f"{new_rdn},{scratch}"), client.result
    assert not client.search(scratch, "(sn=*)")


def _escaped(value: str) -> str:
    """Escape for a filter byte by byte (RFC 4515 3)."""
    return "".join(f"\\{byte:02x}" for byte in value.encode())


def test_case_folding_covers_other_scripts(client: Any, scratch: str) -> None:
    """RFC 4518 2.2 folds by Unicode, not by ASCII."""
    pairs = {"ÅNGSTRÖM": "ångström", "ПУШКИН": "пушкин", "ΟΔΥΣΣΕΑΣ": "οδυσσεασ"}
    for i, (stored, asked) in enumerate(pairs.items()):
        assert client.add(f"cn=Fold {i},{scratch}", PERSON, {"sn": stored})
        assert client.search(scratch, f"(sn={asked})", attributes=["cn"]), stored
        assert client.entries[0].cn.value == f"Fold {i}"


def test_one_modify_applies_all_four_kinds_of_change(client: Any, people: str) -> None:
    dn = f"cn=Person 5,{people}"
    changes = {
        "description": [(ldap3.MODIFY_ADD, ["one", "two"])],
        "sn": [(ldap3.MODIFY_REPLACE, ["Changed"])],
        "uidNumber": [(ldap3.MODIFY_INCREMENT, [10])],
    }
    assert client.modify(dn, changes), client.result
    assert client.modify(dn, {"description": [(ldap3.MODIFY_DELETE, ["one"])]}), client.result
    client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["*"])
    (entry,) = client.entries
    changed = (entry.description.value, entry.sn.value, entry.uidNumber.value)
    assert changed == ("two", "Changed", 15)
    # The indexes follow: the old value matches nothing, the new value matches.
    assert not client.search(people, "(sn=Number 5)")
    assert client.search(people, "(sn=changed)")


def test_changes_of_one_modify_are_applied_in_order(client: Any, people: str) -> None:
    # RFC 4511 4.6: changes apply one after another; only the resulting entry must be valid.
    dn = f"cn=Person 6,{people}"
    changes = [(ldap3.MODIFY_DELETE, []), (ldap3.MODIFY_ADD, ["First"])]
    changes += [(ldap3.MODIFY_DELETE, ["First"]), (ldap3.MODIFY_ADD, ["Last"])]
    assert client.modify(dn, {"sn": changes})
    client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["sn"])
    assert client.entries[0].sn.values == ["Last"]


def test_pages_are_full_except_the_last_page_which_has_an_empty_cookie(
    client: Any, people: str
) -> None:
    sizes, cookie = [], None
    while cookie != b"":
        client.search(people, "(objectClass=person)", paged_size=4, paged_cookie=cookie)
        sizes.append(len(client.response))
        cookie = client.result["controls"]["1.2.840.113556.1.4.319"]["value"]["cookie"]
    assert sizes == [4, 4, 2]


def test_paged_search_returns_unchanged_entries_despite_other_changes(
    client: Any, people: str
) -> None:
    """An entry that exists from the first page to the last is returned exactly once."""
    seen: list[str] = []
    cookie, i = None, 0
    while cookie != b"":
        client.search(people, "(sn=Number*)", paged_size=3, paged_cookie=cookie)
        seen += [each["dn"] for each in client.response]
        cookie = client.result["controls"]["1.2.840.113556.1.4.319"]["value"]["cookie"]
        assert client.add(f"cn=Newcomer {i},{people}", PERSON, {"sn": "Newcomer"})
        i += 1
    assert sorted(seen) == [f"cn=Person {n},{people}" for n in range(10)]


def test_forged_page_cookie_is_refused(client: Any, people: str) -> None:
    assert not client.search(people, "(sn=*)", paged_size=3, paged_cookie=b"forged cookie")
    assert client.result["description"] != "success"


def test_new_bind_replaces_the_previous_identity(client: Any, server: Served) -> None:
    assert client.rebind(ADA, "engine")
    assert client.extend.standard.who_am_i().lower() == f"dn:{ADA}".lower()
    assert not client.delete(ADA)
    # RFC 4511 4.2.1: a failed bind leaves the connection anonymous.
    assert not client.rebind(ADA, "wrong")
    # RFC 4532 2.2: the empty authzid means anonymous; ldap3 turns it into None.
    client.extended(WHO_AM_I)
    assert client.result["responseValue"] in {b"", None}


def test_modified_password_is_valid_and_the_old_one_is_not(client: Any, people: str) -> None:
    dn = f"cn=Person 1,{people}"
    assert client.extend.standard.modify_password(dn, None, "new one")
    generated = client.extend.standard.modify_password(dn)
    assert isinstance(generated, str)
    assert client.rebind(dn, generated)
    assert not client.rebind(dn, "new one")


def test_users_change_their_own_passwords(
    client: Any, server: Served, scratch: str, clients: Clients
) -> None:
    dn = f"cn=Own Password,{scratch}"
    assert client.add(dn, PERSON, {"sn": "x", "userPassword": "first"}), client.result
    member = clients.raw(server, anonymous=True)
    assert member.rebind(dn, "first")
    # RFC 3062 2: without a user identity the requester's own password changes; the old one is
    # checked.
    assert member.extend.standard.modify_password(None, "first", "second") is True
    assert member.extend.standard.modify_password(None, "first", "third") is False
    assert member.rebind(dn, "second")
    assert not member.rebind(dn, "third")


def test_refresh_response_contains_the_time_to_live(client: Any, scratch: str) -> None:
    dn = f"cn=Passing,{scratch}"
    assert client.add(dn, [*PERSON, "dynamicObject"], {"sn": "Passing"}), client.result
    assert refresh(client, dn, 300), client.result
    # [1] responseTtl
    assert client.result["responseValue"] == bytes.fromhex("30048102012c")
    client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["entryTtl"])
    assert 295 <= client.entries[0].entryTtl.value <= 300


def test_one_connection_handles_200_outstanding_requests(
    server: Served, people: str, clients: Clients
) -> None:
    connection = clients.checking(server, asynchronous=True)
    numbers = list(range(200))
    asked = [
        connection.search(people, f"(uidNumber={i % 10})", attributes=["uidNumber"])
        for i in numbers
    ]
    for i, message_id in zip(numbers, asked, strict=True):
        response, result = connection.get_response(message_id)
        assert result["description"] == "success"
        assert [each["attributes"]["uidNumber"] for each in response] == [i % 10]


def test_connection_stays_usable_after_abandon(
    server: Served, people: str, clients: Clients
) -> None:
    connection = clients.checking(server, asynchronous=True)
    for _ in range(20):
        message_id = connection.search(people, "(objectClass=*)", attributes=["*"])
        # The abandon may arrive too late or early enough to stop the search: both are right (RFC
        # 4511 4.11).
        connection.abandon(message_id)
    after = connection.search(people, "(uidNumber=1)", attributes=["cn"])
    response, result = connection.get_response(after)
    assert (result["description"], len(response)) == ("success", 1)


def test_abandon_of_unknown_message_is_ignored(server: Served, clients: Clients) -> None:
    connection = clients.raw(server)
    connection.abandon(0)
    assert connection.search("", "(objectClass=*)", ldap3.BASE)


def test_server_closes_the_connection_after_unbind(server: Served, clients: Clients) -> None:
    connection = clients.raw(server)
    connection.unbind()
    assert connection.closed
    again = clients.raw(server)
    again.open()
    assert again.bind()
    again.unbind()


def test_binary_values_are_returned_unchanged(client: Any, scratch: str) -> None:
    photo = bytes(range(256)) * 8
    dn = f"cn=Photo,{scratch}"
    assert client.add(dn, PERSON, {"sn": "Photo", "jpegPhoto": [photo, b"\x00"]}), client.result
    client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["jpegPhoto"])
    assert sorted(client.entries[0].jpegPhoto.raw_values) == sorted([photo, b"\x00"])


def test_large_entry_is_stored_and_returned_unchanged(client: Any, scratch: str) -> None:
    values = [f"value {i:05} " + "x" * 200 for i in range(2_000)]
    dn = f"cn=Large,{scratch}"
    assert client.add(dn, PERSON, {"sn": "Large", "description": values}), client.result
    client.search(dn, "(objectClass=*)", ldap3.BASE, attributes=["description"])
    assert sorted(client.entries[0].description.values) == values
