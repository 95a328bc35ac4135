"""ldapsearch gets the same results from the directory as from slapd (RFC 4511 clause 4.5)."""

import pytest

from tests.conformance.content import OFFICE_BASE
from tests.conformance.tools import Tools

ADA = f"cn=Ada Lovelace,{OFFICE_BASE}"
GRACE = f"cn=Grace Hopper,{OFFICE_BASE}"
YURI = f"cn=Юрий Кнорозов,{OFFICE_BASE}"
TOKIKO = f"cn=加藤 登紀子,{OFFICE_BASE}"
OBRIEN = f"cn=O'Brien\\2C Jr.,{OFFICE_BASE}"
BASEMENT = f"ou=Basement,{OFFICE_BASE}"
ADA_BASEMENT = f"cn=Ada Basement,{BASEMENT}"

PEOPLE = [ADA, GRACE, YURI, TOKIKO, OBRIEN]

SIZE_LIMIT_EXCEEDED, UNAVAILABLE_CRITICAL_EXTENSION = 4, 12
NO_SUCH_OBJECT, INVALID_DN_SYNTAX = 32, 34


def plain(dn: str) -> str:
    """Return `dn` with one spelling of the escape that RFC 4514 2.4 allows in two ways."""
    return dn.replace("\\,", "\\2C")


def found(tools: Tools, *arguments: str) -> list[str]:
    """Search the office and return the DNs; the search must succeed."""
    ran = tools.search(OFFICE_BASE, *arguments).check(0)
    return sorted(plain(dn) for dn in ran.dns)


ALL = [OFFICE_BASE, *PEOPLE, BASEMENT, ADA_BASEMENT]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("base", [OFFICE_BASE]), ("one", [*PEOPLE, BASEMENT]), ("sub", ALL)],
)
def test_each_scope_returns_its_entries(tools: Tools, scope: str, expected: list[str]) -> None:
    assert found(tools, "-s", scope, "(objectClass=*)", "1.1") == sorted(expected)


FILTERS = [
    # equality: case and extra spaces do not matter (RFC 4518 2.6)
    ("(cn=Ada Lovelace)", [ADA]),
    ("(cn=ada  LOVELACE)", [ADA]),
    ("(cn=ADA LOVELACE )", [ADA]),
    ("(cn=Amazing Grace)", [GRACE]),
    ("(commonName=Grace Hopper)", [GRACE]),
    ("(2.5.4.3=Grace Hopper)", [GRACE]),
    ("(cn=Nobody)", []),
    ("(objectClass=inetOrgPerson)", [*PEOPLE, ADA_BASEMENT]),
    ("(objectClass=organizationalPerson)", [*PEOPLE, ADA_BASEMENT]),
    ("(objectClass=PERSON)", [*PEOPLE, ADA_BASEMENT]),
    ("(name=Hopper)", [GRACE]),
    ("(name=Ada)", [ADA, ADA_BASEMENT]),
    # other scripts, folded and escaped
    ("(cn=Юрий Кнорозов)", [YURI]),
    ("(cn=юрий КНОРОЗОВ)", [YURI]),
    ("(sn=加藤)", [TOKIKO]),
    ("(sn=\\e5\\8a\\a0\\e8\\97\\a4)", [TOKIKO]),
    # presence
    ("(mail=*)", [ADA, GRACE, YURI]),
    ("(audio=*)", []),
    # substrings: initial, any, final
    ("(cn=Ada*)", [ADA, ADA_BASEMENT]),
    ("(cn=*lace)", [ADA]),
    ("(cn=*race*)", [GRACE]),
    ("(cn=a*l*ce)", [ADA]),
    ("(cn=*a*d*a*)", [ADA, ADA_BASEMENT]),
    ("(cn=Ada*Ada*)", []),
    ("(cn=*роз*)", [YURI]),
    ("(cn=加*子)", [TOKIKO]),
    ("(description=*\\2a*)", [OBRIEN]),
    ("(description=*\\28*\\5c*\\29)", [OBRIEN]),
    ("(mail=ADA@*)", [ADA]),
    ("(telephoneNumber=*7946*)", [ADA]),
    # telephone numbers compare without spaces and hyphens (RFC 4518 2.6.3)
    ("(telephoneNumber=+442079460001)", [ADA]),
    ("(telephoneNumber=+44-20-7946-0001)", [ADA]),
    # DNs compare as DNs (RFC 4517 4.2.15)
    ("(seeAlso=CN=Ada  Lovelace, OU=Office,O=Intranet)", [GRACE]),
    # sets
    ("(&(sn=Lovelace)(givenName=Ada))", [ADA]),
    ("(|(sn=Lovelace)(sn=Hopper))", [ADA, GRACE]),
    ("(&(objectClass=inetOrgPerson)(!(mail=*)))", [TOKIKO, OBRIEN, ADA_BASEMENT]),
    ("(!(objectClass=inetOrgPerson))", [OFFICE_BASE, BASEMENT]),
    ("(&(|(cn=Ada*)(cn=Grace*))(!(|(sn=Hopper)(sn=Basement))))", [ADA]),
    # absolute true and false (RFC 4526)
    ("(&)", ALL),
    ("(|)", []),
    # undefined attributes are neither true nor false, so their negation matches nothing (RFC 4511
    # 4.5.1.7)
    ("(nosuchattribute=x)", []),
    ("(!(nosuchattribute=x))", []),
    ("(|(nosuchattribute=x)(sn=Hopper))", [GRACE]),
    ("(&(nosuchattribute=x)(sn=Hopper))", []),
    ("(!(&(nosuchattribute=x)(sn=Nobody)))", ALL),
    # approximate match may be equality (RFC 4511 4.5.1.7.6)
    ("(sn~=Hopper)", [GRACE]),
    # extensible match: rule by name and by OID, with attribute, DN parts (4.5.1.7.7)
    ("(sn:caseExactMatch:=Hopper)", [GRACE]),
    ("(sn:caseExactMatch:=hopper)", []),
    ("(sn:2.5.13.5:=Hopper)", [GRACE]),
    ("(sn:caseIgnoreMatch:=hopper)", [GRACE]),
    ("(sn:=hopper)", [GRACE]),
    ("(ou:dn:=Basement)", [BASEMENT, ADA_BASEMENT]),
    ("(&(ou:dn:=basement)(objectClass=person))", [ADA_BASEMENT]),
    # ordering (RFC 4517 4.2.17)
    ("(createTimestamp>=19970101000000Z)", ALL),
    ("(createTimestamp<=19970101000000Z)", []),
    ("(&(createTimestamp>=19970101000000Z)(sn=Hopper))", [GRACE]),
    ("(!(createTimestamp>=19970101000000Z))", []),
    # operational attributes
    (f"(entryDN={ADA})", [ADA]),
    ("(hasSubordinates=TRUE)", [OFFICE_BASE, BASEMENT]),
]


@pytest.mark.parametrize(("text", "expected"), FILTERS)
def test_each_filter_selects_the_expected_people(
    tools: Tools, text: str, expected: list[str]
) -> None:
    assert found(tools, text, "1.1") == sorted(expected)


def test_entry_is_found_by_its_uuid(tools: Tools) -> None:
    uuid = tools.read(ADA, "entryUUID").texts("entryUUID")[0]
    assert found(tools, f"(entryUUID={uuid})", "1.1") == [ADA]


USER = "objectclass cn sn givenname mail telephonenumber description employeenumber"
OPERATIONAL = (
    "structuralObjectClass createTimestamp modifyTimestamp entryUUID entryDN subschemaSubentry"
    " hasSubordinates"
)


def test_star_selects_user_attributes_and_plus_operational_attributes(tools: Tools) -> None:
    user, operational = tools.read(ADA), tools.read(ADA, "+")
    assert {name.lower() for name in user.attributes} == set(USER.split())
    assert user.texts("description") == ["counts in her sleep", "wrote the first program"]
    assert set(operational.attributes) >= set(OPERATIONAL.split())
    assert operational.texts("structuralObjectClass") == ["inetOrgPerson"]
    assert operational.texts("entryDN") == [ADA]
    assert operational.texts("hasSubordinates") == ["FALSE"]
    assert operational.texts("subschemaSubentry")[0].lower() == "cn=subschema"
    assert "sn" not in operational.attributes
    assert tools.read(ADA, "*") == user
    assert tools.read(ADA, "*", "+").attributes == user.attributes | operational.attributes


@pytest.mark.parametrize(
    ("selectors", "names"),
    [
        # An operational attribute is returned if named.
        ("sn entryUUID", {"sn", "entryUUID"}),
        ("1.1", set()),
        # 1.1 beside other attributes is ignored (RFC 4511 4.5.1.8).
        ("1.1 sn", {"sn"}),
        # RFC 4511 4.5.1.8 with RFC 4512 2.5.1: cn, sn and givenName are subtypes of name.
        ("name", {"cn", "sn", "givenName"}),
    ],
)
def test_selectors_return_their_attributes(tools: Tools, selectors: str, names: set[str]) -> None:
    assert set(tools.read(ADA, *selectors.split()).attributes) == names


def test_named_attributes_are_returned_for_any_case_or_alias(tools: Tools) -> None:
    entry = tools.read(ADA, "SN", "nosuchattribute", "2.5.4.42")
    values = sorted(value for name in entry.attributes for value in entry.texts(name))
    assert values == ["Ada", "Lovelace"]


def test_object_class_selector_returns_its_attributes(tools: Tools) -> None:
    # RFC 4529, which slapd announces; a server without it returns nothing for "@person".
    features = tools.read("", "supportedFeatures").texts("supportedFeatures")
    attributes = set(tools.read(ADA, "@person").attributes)
    if "1.3.6.1.4.1.4203.1.5.2" in features:
        assert attributes >= {"cn", "sn", "telephoneNumber", "description"}
        assert not attributes & {"mail", "givenName"}
    else:
        assert attributes == set()


def test_search_for_types_only_returns_no_values(tools: Tools) -> None:
    ran = tools.search(ADA, "-s", "base", "-A", "(objectClass=*)")
    (entry,) = ran.entries
    assert set(entry.attributes) == set(tools.read(ADA).attributes)
    assert all(values == [b""] for values in entry.attributes.values())


@pytest.mark.parametrize(
    ("options", "code", "entries"),
    [
        ("-z 1", SIZE_LIMIT_EXCEEDED, 1),
        ("-z 3", SIZE_LIMIT_EXCEEDED, 3),
        ("-z 8", 0, 8),
        # The size limit counts the entries of all pages (RFC 4511 4.5.1.4).
        ("-z 5 -E !pr=3/noprompt", SIZE_LIMIT_EXCEEDED, 5),
        ("-l 5", 0, 8),
        # Unknown controls (RFC 4511 4.1.11), critical and not.
        ("-e !1.2.3", UNAVAILABLE_CRITICAL_EXTENSION, 0),
        ("-e 1.2.3", 0, 8),
    ],
)
def test_limits_and_unknown_controls_of_a_search_are_observed(
    tools: Tools, options: str, code: int, entries: int
) -> None:
    ran = tools.search(OFFICE_BASE, *options.split(), "(objectClass=*)", "1.1").check(code)
    assert len(ran.dns) == entries


@pytest.mark.parametrize("page", [1, 3, 8, 100])
def test_paged_search_returns_every_entry_once(tools: Tools, page: int) -> None:
    ran = tools.search(OFFICE_BASE, "-E", f"!pr={page}/noprompt", "(objectClass=*)", "1.1").check(0)
    assert sorted(ran.dns) == tools.search(OFFICE_BASE, "(objectClass=*)", "1.1").dns


@pytest.mark.parametrize(
    ("base", "code", "matched"),
    [
        (f"cn=Nobody,{OFFICE_BASE}", NO_SUCH_OBJECT, f"Matched DN: {OFFICE_BASE}\n"),
        (f"cn=Nobody,ou=Nowhere,{OFFICE_BASE}", NO_SUCH_OBJECT, f"Matched DN: {OFFICE_BASE}\n"),
        (f"cn=Nobody,{ADA}", NO_SUCH_OBJECT, f"Matched DN: {ADA}\n"),
        ("dc=example,dc=com", NO_SUCH_OBJECT, ""),
        ("certainly not a dn", INVALID_DN_SYNTAX, ""),
    ],
)
def test_missing_base_returns_matched_dn(tools: Tools, base: str, code: int, matched: str) -> None:
    ran = tools.search(base, "(objectClass=*)").check(code, matched)
    assert ("Matched DN" in ran.err) == bool(matched)


def test_base_is_found_in_every_spelling(tools: Tools) -> None:
    for base in (
        "OU=OFFICE,O=INTRANET",
        "ou=Office , o = Intranet",
        "ou=\\4fffice,o=Intranet",
        "2.5.4.11=Office,organizationName=Intranet",
    ):
        assert tools.read(base, "1.1").dn == OFFICE_BASE


def test_root_dse_lists_supported_features(tools: Tools) -> None:
    root = tools.read("", "+")
    assert root.dn == ""
    assert root.texts("namingContexts") == ["o=Intranet"]
    assert "3" in root.texts("supportedLDAPVersion")
    assert root.texts("subschemaSubentry")[0].lower() == "cn=subschema"
    assert "1.2.840.113556.1.4.319" in root.texts("supportedControl")  # paged results
    extensions = {
        "1.3.6.1.4.1.4203.1.11.1",  # password modify
        "1.3.6.1.4.1.4203.1.11.3",  # who am I
    }
    if tools.server.is_embedded:
        extensions.add("1.3.6.1.4.1.1466.101.119.1")  # refresh, which slapd's dds keeps to itself
    assert set(root.texts("supportedExtension")) >= extensions
    assert set(root.texts("supportedFeatures")) >= {
        "1.3.6.1.1.14",  # modify-increment
        "1.3.6.1.4.1.4203.1.5.1",  # all operational attributes
        "1.3.6.1.4.1.4203.1.5.3",  # absolute true and false filters
    }


def test_root_dse_returns_only_object_class_by_default_and_needs_a_matching_filter(
    tools: Tools,
) -> None:
    # RFC 4512 5.1: the attributes of the root DSE are operational except objectClass.
    assert set(tools.read("").attributes) == {"objectClass"}
    # RFC 4512 5.1: only a baseObject search with (objectClass=*) reads the root DSE.
    assert tools.search("", "-s", "base", "(cn=nothing)", "1.1").check(0).dns == []


def test_subschema_lists_attributes_and_classes_and_is_found_by_its_class(tools: Tools) -> None:
    schema = tools.read("cn=Subschema", "+")
    classes, types = ("\n".join(schema.texts(name)) for name in ("objectClasses", "attributeTypes"))
    for name in ("top", "person", "inetOrgPerson", "organizationalUnit", "dynamicObject"):
        assert f"'{name}'" in classes
    for name in ("cn", "sn", "mail", "objectClass", "entryTtl", "createTimestamp"):
        assert f"'{name}'" in types
    assert schema.texts("ldapSyntaxes")
    assert schema.texts("matchingRules")
    # RFC 4512 4.4: clients read the subschema with (objectClass=subschema).
    for kind, number in (("subschema", 1), ("person", 0)):
        ran = tools.search("cn=Subschema", "-s", "base", f"(objectClass={kind})", "attributeTypes")
        assert len(ran.entries) == number
