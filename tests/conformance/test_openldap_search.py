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


def plain(dn: str) -> str:
    """Return `dn` with one spelling of the escape that RFC 4514 2.4 allows in two ways."""
    return dn.replace("\\,", "\\2C")


def found(tools: Tools, *arguments: str) -> list[str]:
    """Search the office and return the DNs; the search must succeed."""
    ran = tools.search(OFFICE_BASE, *arguments).check(0)
    return sorted(plain(dn) for dn in ran.dns)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("base", [OFFICE_BASE]),
        ("one", [*PEOPLE, BASEMENT]),
        ("sub", [OFFICE_BASE, *PEOPLE, BASEMENT, ADA_BASEMENT]),
    ],
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
    ("(&)", [OFFICE_BASE, *PEOPLE, BASEMENT, ADA_BASEMENT]),
    ("(|)", []),
    # undefined attributes are neither true nor false, so their negation matches nothing (RFC 4511
    # 4.5.1.7)
    ("(nosuchattribute=x)", []),
    ("(!(nosuchattribute=x))", []),
    ("(|(nosuchattribute=x)(sn=Hopper))", [GRACE]),
    ("(&(nosuchattribute=x)(sn=Hopper))", []),
    ("(!(&(nosuchattribute=x)(sn=Nobody)))", [OFFICE_BASE, *PEOPLE, BASEMENT, ADA_BASEMENT]),
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
]


@pytest.mark.parametrize(("text", "expected"), FILTERS)
def test_each_filter_selects_the_expected_people(
    tools: Tools, text: str, expected: list[str]
) -> None:
    assert found(tools, text, "1.1") == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(createTimestamp>=19970101000000Z)", 8),
        ("(createTimestamp<=19970101000000Z)", 0),
        ("(&(createTimestamp>=19970101000000Z)(sn=Hopper))", 1),
        ("(!(createTimestamp>=19970101000000Z))", 0),
    ],
)
def test_ordering_filters_use_the_ordering_rule(tools: Tools, text: str, expected: int) -> None:
    assert len(found(tools, text, "1.1")) == expected


def test_operational_attributes_can_be_searched(tools: Tools) -> None:
    uuid = tools.read(ADA, "entryUUID").texts("entryUUID")[0]
    assert found(tools, f"(entryUUID={uuid})", "1.1") == [ADA]
    assert found(tools, f"(entryDN={ADA})", "1.1") == [ADA]
    assert found(tools, "(hasSubordinates=TRUE)", "1.1") == sorted([OFFICE_BASE, BASEMENT])


def test_all_user_attributes_are_returned_by_default(tools: Tools) -> None:
    entry = tools.read(ADA)
    assert {name.lower() for name in entry.attributes} == {
        "objectclass",
        "cn",
        "sn",
        "givenname",
        "mail",
        "telephonenumber",
        "description",
        "employeenumber",
    }
    assert entry.texts("description") == ["counts in her sleep", "wrote the first program"]


def test_star_selects_all_user_attributes(tools: Tools) -> None:
    assert tools.read(ADA, "*") == tools.read(ADA)


OPERATIONAL = {
    "structuralObjectClass",
    "createTimestamp",
    "modifyTimestamp",
    "entryUUID",
    "entryDN",
    "subschemaSubentry",
    "hasSubordinates",
}


def test_plus_selects_all_operational_attributes(tools: Tools) -> None:
    entry = tools.read(ADA, "+")
    assert set(entry.attributes) >= OPERATIONAL
    assert entry.texts("structuralObjectClass") == ["inetOrgPerson"]
    assert entry.texts("entryDN") == [ADA]
    assert entry.texts("hasSubordinates") == ["FALSE"]
    assert entry.texts("subschemaSubentry")[0].lower() == "cn=subschema"
    assert "sn" not in entry.attributes


def test_star_and_plus_together_return_all_attributes(tools: Tools) -> None:
    everything = tools.read(ADA, "*", "+").attributes
    assert everything == tools.read(ADA).attributes | tools.read(ADA, "+").attributes


def test_operational_attribute_is_returned_if_named(tools: Tools) -> None:
    entry = tools.read(ADA, "sn", "entryUUID")
    assert set(entry.attributes) == {"sn", "entryUUID"}


def test_oid_1_1_returns_no_attributes(tools: Tools) -> None:
    assert tools.read(ADA, "1.1").attributes == {}
    # 1.1 beside other attributes is ignored (RFC 4511 4.5.1.8)
    assert set(tools.read(ADA, "1.1", "sn").attributes) == {"sn"}


def test_named_attributes_are_returned_for_any_case_or_alias(tools: Tools) -> None:
    entry = tools.read(ADA, "SN", "nosuchattribute", "2.5.4.42")
    assert sorted(value for name in entry.attributes for value in entry.texts(name)) == [
        "Ada",
        "Lovelace",
    ]


def test_supertype_returns_its_subtypes(tools: Tools) -> None:
    # RFC 4511 4.5.1.8 with RFC 4512 2.5.1: cn, sn and givenName are subtypes of name.
    assert set(tools.read(ADA, "name").attributes) == {"cn", "sn", "givenName"}


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


@pytest.mark.parametrize("limit", [1, 3])
def test_size_limit_ends_the_search_early(tools: Tools, limit: int) -> None:
    ran = tools.search(OFFICE_BASE, "-z", str(limit), "(objectClass=*)", "1.1")
    ran.check(4)  # sizeLimitExceeded
    assert len(ran.dns) == limit


def test_size_limit_equal_to_the_number_of_matches_is_no_error(tools: Tools) -> None:
    ran = tools.search(OFFICE_BASE, "-z", "8", "(objectClass=*)", "1.1")
    assert (ran.code, len(ran.dns)) == (0, 8)


def test_size_limit_counts_the_entries_of_all_pages(tools: Tools) -> None:
    ran = tools.search(OFFICE_BASE, "-E", "!pr=3/noprompt", "-z", "5", "(objectClass=*)", "1.1")
    assert (ran.code, len(ran.dns)) == (4, 5)  # sizeLimitExceeded, RFC 4511 4.5.1.4


def test_time_limit_of_a_search_is_accepted(tools: Tools) -> None:
    assert tools.search(OFFICE_BASE, "-l", "5", "(objectClass=*)", "1.1").code == 0


@pytest.mark.parametrize("page", [1, 3, 8, 100])
def test_paged_search_returns_every_entry_once(tools: Tools, page: int) -> None:
    ran = tools.search(OFFICE_BASE, "-E", f"!pr={page}/noprompt", "(objectClass=*)", "1.1").check(0)
    assert sorted(ran.dns) == tools.search(OFFICE_BASE, "(objectClass=*)", "1.1").dns


def test_unknown_critical_control_is_refused(tools: Tools) -> None:
    ran = tools.search(OFFICE_BASE, "-e", "!1.2.3", "(objectClass=*)", "1.1")
    ran.check(12)  # unavailableCriticalExtension, RFC 4511 4.1.11
    assert ran.dns == []


def test_unknown_control_that_is_not_critical_is_ignored(tools: Tools) -> None:
    ran = tools.search(OFFICE_BASE, "-e", "1.2.3", "-s", "base", "(objectClass=*)", "1.1")
    assert (ran.code, ran.dns) == (0, [OFFICE_BASE])


@pytest.mark.parametrize(
    ("base", "matched"),
    [
        (f"cn=Nobody,{OFFICE_BASE}", OFFICE_BASE),
        (f"cn=Nobody,ou=Nowhere,{OFFICE_BASE}", OFFICE_BASE),
        (f"cn=Nobody,{ADA}", ADA),
    ],
)
def test_missing_base_returns_matched_dn(tools: Tools, base: str, matched: str) -> None:
    tools.search(base, "-s", "sub", "(objectClass=*)").check(32, f"Matched DN: {matched}\n")


def test_base_outside_the_suffix_is_not_found(tools: Tools) -> None:
    ran = tools.search("dc=example,dc=com", "(objectClass=*)").check(32)
    assert "Matched DN" not in ran.err


def test_base_that_is_not_a_dn_is_refused(tools: Tools) -> None:
    assert tools.search("certainly not a dn", "(objectClass=*)").code == 34  # invalidDNSyntax


def test_base_is_found_in_every_spelling(tools: Tools) -> None:
    for base in (
        "OU=OFFICE,O=INTRANET",
        "ou=Office , o = Intranet",
        "ou=\\4fffice,o=Intranet",
        "2.5.4.11=Office,organizationName=Intranet",
    ):
        assert tools.read(base, "1.1").dn == OFFICE_BASE


def test_unwrapped_and_wrapped_output_have_the_same_entries(tools: Tools) -> None:
    wrapped = tools.run("ldapsearch", "-LLL", "-b", OFFICE_BASE, "(objectClass=*)").entries
    assert wrapped == tools.search(OFFICE_BASE, "(objectClass=*)").entries
    commented = tools.run("ldapsearch", "-b", OFFICE_BASE, "(objectClass=*)")
    assert "# numEntries: 8" in commented.out
    assert "result: 0 Success" in commented.out


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


def test_root_dse_returns_only_object_class_by_default(tools: Tools) -> None:
    # RFC 4512 5.1: the attributes of the root DSE are operational except objectClass.
    assert set(tools.read("").attributes) == {"objectClass"}


def test_root_dse_is_not_part_of_a_subtree(tools: Tools) -> None:
    # RFC 4512 5.1: only a baseObject search with (objectClass=*) reads the root DSE.
    ran = tools.search("", "-s", "base", "(cn=nothing)", "1.1")
    assert (ran.code, ran.dns) == (0, [])


def test_subschema_lists_attributes_and_classes_of_the_entries(tools: Tools) -> None:
    schema = tools.read("cn=Subschema", "+")
    classes = "\n".join(schema.texts("objectClasses"))
    types = "\n".join(schema.texts("attributeTypes"))
    for name in ("top", "person", "inetOrgPerson", "organizationalUnit", "dynamicObject"):
        assert f"'{name}'" in classes
    for name in ("cn", "sn", "mail", "objectClass", "entryTtl", "createTimestamp"):
        assert f"'{name}'" in types
    assert schema.texts("ldapSyntaxes")
    assert schema.texts("matchingRules")


def test_subschema_is_found_by_its_class(tools: Tools) -> None:
    # RFC 4512 4.4: clients read the subschema with (objectClass=subschema).
    ran = tools.search("cn=Subschema", "-s", "base", "(objectClass=subschema)", "attributeTypes")
    assert len(ran.entries) == 1
    assert tools.search("cn=Subschema", "-s", "base", "(objectClass=person)").entries == []
