"""Intended differences between the embedded directory and slapd, as in docs/conformance.md.

A difference that goes away must leave this file and that page.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from ldap3 import BASE, DEREF_ALWAYS, LEVEL, MODIFY_DELETE, MODIFY_REPLACE

from tests.conformance.ldap3_client import Clients
from tests.conformance.pair import Pair
from tests.conformance.random_operations import Add, Compare, Modify, Operation, Rename, Search
from tests.conformance.served import Served

BOX = ["ou=box"]
INSIDE = ["cn=ann", "ou=BOX"]


def codes(pair: Pair, *operations: Operation) -> tuple[object, object]:
    """Apply `operations` in a new container; return the last result code of each server."""
    base = pair.new_container()
    answers = [pair.apply(operation, base) for operation in operations]
    return answers[-1]["embedded"][0], answers[-1]["openldap"][0]


def found(pair: Pair, values: dict[str, list[str]], text: str) -> tuple[int, int]:
    """Return for each server how many of one entry with `values` match a filter."""
    base = pair.new_container()
    pair.agree(Add(["cn=ann"], values), base)
    counts: dict[str, int] = {}
    for kind, connection in pair.connections.items():
        connection.search(base, text, LEVEL, attributes=["1.1"])
        counts[kind] = len(connection.response)
    return counts["embedded"], counts["openldap"]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("mail", "ü@b.example"), ("telephoneNumber", "ü"), ("c", "toolong"), ("uidNumber", "01")],
)
def test_syntaxes_of_text_are_not_enforced(pair: Pair, attribute: str, value: str) -> None:
    """ILS clients send ISO-8859-1, and integers may begin with zeros."""
    add = Add(["cn=ann"], {attribute: [value]})
    assert codes(pair, add) == ("success", "invalidAttributeSyntax")


@pytest.mark.parametrize(("attribute", "value"), [("uidNumber", "x"), ("seeAlso", "nodn")])
def test_syntaxes_required_for_matching_are_enforced(
    pair: Pair, attribute: str, value: str
) -> None:
    add = Add(["cn=ann"], {attribute: [value]})
    assert codes(pair, add) == ("invalidAttributeSyntax", "invalidAttributeSyntax")


def test_leading_zeros_do_not_affect_integer_matching(pair: Pair) -> None:
    assert found(pair, {"uidNumber": ["1"]}, "(uidNumber=01)") == (1, 0)


def test_object_class_outside_the_schema_matches_false_not_undefined(pair: Pair) -> None:
    """Any class may be stored, so (objectClass=x) is false; in slapd it is undefined."""
    assert found(pair, {}, "(objectClass=spaceAlien)") == (0, 0)
    assert found(pair, {}, "(!(objectClass=spaceAlien))") == (1, 0)


def test_space_at_the_end_of_a_substring_matches_the_end_of_a_value(pair: Pair) -> None:
    """RFC 4518 2.6.1 ends every value with a space; slapd follows it only between words."""
    assert found(pair, {"description": ["two"]}, "(description=two\\20*)") == (1, 0)
    assert found(pair, {"description": ["two words"]}, "(description=two\\20*)") == (1, 1)


def test_duplicate_values_removed_by_a_later_change_are_accepted(pair: Pair) -> None:
    replaced = (MODIFY_REPLACE, "description", ["one", "ONE"])
    removed: tuple[str, str, list[str]] = (MODIFY_DELETE, "description", [])
    answers = codes(pair, Add(["cn=ann"], {}), Modify(["cn=ann"], [replaced, removed]))
    assert answers == ("success", "attributeOrValueExists")
    answers = codes(pair, Add(["cn=ann"], {}), Modify(["cn=ann"], [replaced]))
    assert answers == ("attributeOrValueExists", "attributeOrValueExists")


def _stored(pair: Pair, base: str) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for kind, connection in pair.connections.items():
        connection.search(f"cn=ann,ou=box,{base}", "(objectClass=*)", BASE, attributes=["*"])
        stored[kind] = connection.response[0]
    return stored


def test_dns_are_returned_as_they_were_written(pair: Pair) -> None:
    """Slapd normalises DN values, and spells an entry's ancestors as they were added."""
    base = pair.new_container()
    pair.agree(Add(BOX, {}), base)
    pair.agree(Add(INSIDE, {"seeAlso": ["CN=Ann , O=Intranet"]}), base)
    stored = _stored(pair, base)
    values = {kind: each["raw_attributes"]["seeAlso"] for kind, each in stored.items()}
    assert values == {"embedded": [b"CN=Ann , O=Intranet"], "openldap": [b"cn=Ann,o=Intranet"]}
    assert stored["embedded"]["dn"] == f"cn=ann,ou=BOX,{base}"
    assert stored["openldap"]["dn"] == f"cn=ann,ou=box,{base}"
    pair.agree(Compare(["cn=ann", "ou=Box"], "seeAlso", "cn=ANN,o=intranet"), base)


def test_missing_entry_is_reported_before_faults_of_the_request(pair: Pair) -> None:
    twice = Add(["cn=ann"], {"description": ["one", "ONE"]})
    answers = codes(pair, Add(["cn=ann"], {}), twice)
    assert answers == ("entryAlreadyExists", "attributeOrValueExists")


def test_failed_rename_returns_matched_dn(pair: Pair) -> None:
    base = pair.new_container()
    rename = Rename(["cn=x", "ou=nowhere"], "cn=y", delete_old=True, new_superior=None)
    answers = pair.apply(rename, base)
    assert answers["openldap"] == ("noSuchObject", "")
    assert answers["embedded"] == ("noSuchObject", base.casefold())


def test_only_slapd_has_creators_and_modifiers_name(pair: Pair) -> None:
    base = pair.new_container()
    answers = pair.apply(Search([], "(creatorsName=*)", BASE, ["1.1"]), base)
    assert len(answers["openldap"]) == len(answers["embedded"]) == 3
    assert answers["openldap"][2] != []
    assert answers["embedded"][2] == []


def test_malformed_bind_dn_is_answered_with_invalid_credentials(
    server: Served, clients: Clients
) -> None:
    connection = clients.raw(server, anonymous=True)
    assert not connection.rebind("not a dn", "engine")
    expected = "invalidCredentials" if server.is_embedded else "invalidDNSyntax"
    assert connection.result["description"] == expected


def test_referral_is_an_ordinary_entry(pair: Pair) -> None:
    base, answers = pair.new_container(), {}
    for kind, connection in pair.connections.items():
        values = {"cn": "far", "ref": "ldap://127.0.0.1:1/o=far"}
        assert connection.add(f"cn=far,{base}", ["referral", "extensibleObject"], values)
        connection.search(base, "(objectClass=referral)", LEVEL, attributes=["1.1"])
        answers[kind] = [answer["type"] for answer in connection.response]
    assert answers == {"embedded": ["searchResEntry"], "openldap": ["searchResRef"]}


def test_alias_is_not_dereferenced(pair: Pair) -> None:
    base, answers = pair.new_container(), {}
    for kind, connection in pair.connections.items():
        assert connection.add(f"cn=ann,{base}", ["person"], {"sn": "A"})
        values = {"cn": "other", "aliasedObjectName": f"cn=ann,{base}"}
        assert connection.add(f"cn=other,{base}", ["alias", "extensibleObject"], values)
        asked = {"dereference_aliases": DEREF_ALWAYS, "attributes": ["1.1"]}
        connection.search(f"cn=other,{base}", "(objectClass=*)", BASE, **asked)
        answers[kind] = [answer["dn"].partition(",")[0] for answer in connection.response]
    assert answers == {"embedded": ["cn=other"], "openldap": ["cn=ann"]}


def test_every_deviation_on_the_page_has_a_test() -> None:
    here = Path(__file__).parent
    page = (here.parents[1] / "docs/conformance.md").read_text()
    defined = "\n".join(path.read_text() for path in here.glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) >= 15
    assert {name for name in named if f"def {name}(" not in defined} == set()
