"""OpenLDAP's writing clients and their access rights (RFC 4511 clauses 4.2 and 4.6 to 4.12)."""

import pytest

from tests.conformance.content import OFFICE_BASE
from tests.conformance.served import Served
from tests.conformance.tools import Tools

ADA = f"cn=Ada Lovelace,{OFFICE_BASE}"

PROTOCOL_ERROR, COMPARE_FALSE, COMPARE_TRUE, STRONGER_AUTH_REQUIRED = 2, 5, 6, 8
UNAVAILABLE_CRITICAL_EXTENSION, NO_SUCH_ATTRIBUTE, UNDEFINED_ATTRIBUTE_TYPE = 12, 16, 17
CONSTRAINT_VIOLATION, ATTRIBUTE_OR_VALUE_EXISTS, INVALID_ATTRIBUTE_SYNTAX = 19, 20, 21
NO_SUCH_OBJECT, INVALID_CREDENTIALS, INSUFFICIENT_ACCESS, UNWILLING_TO_PERFORM = 32, 49, 50, 53
NAMING_VIOLATION, OBJECT_CLASS_VIOLATION, NOT_ALLOWED_ON_NON_LEAF = 64, 65, 66
NOT_ALLOWED_ON_RDN, ENTRY_ALREADY_EXISTS, NO_SUCH_OPERATION = 67, 68, 119

REFUSED_TO_ANONYMOUS = {STRONGER_AUTH_REQUIRED, INSUFFICIENT_ACCESS, UNWILLING_TO_PERFORM}


def person(dn: str, *more: str) -> str:
    """LDIF of a person named by the first RDN of `dn`."""
    name = dn.split(",", 1)[0].removeprefix("cn=")
    lines = [f"dn: {dn}", "objectClass: inetOrgPerson", f"cn: {name}", "sn: Tester", *more]
    return "\n".join(lines) + "\n"


@pytest.fixture
def someone(tools: Tools, scratch: str) -> str:
    """DN of a person that this test may change."""
    dn = f"cn=Someone,{scratch}"
    tools.add(person(dn, "description: one", "description: two", "givenName: Some"))
    return dn


def modify(tools: Tools, dn: str, *lines: str) -> int:
    text = "\n".join([f"dn: {dn}", "changetype: modify", *lines]) + "\n"
    return tools.as_admin("ldapmodify", text=text).code


# --- add ------------------------------------------------------------------------------------


def test_added_entry_has_its_values(tools: Tools, scratch: str) -> None:
    dn = f"cn=New Person,{scratch}"
    tools.add(person(dn, "description:: w6R0", "description: plain", "jpegPhoto:: AAEC/w=="))
    entry = tools.read(dn)
    assert entry.texts("description") == ["plain", "ät"]
    assert entry.attributes["jpegPhoto"] == [b"\x00\x01\x02\xff"]
    assert entry.texts("objectClass") == ["inetOrgPerson"]


def test_rdn_value_is_added_as_attribute(tools: Tools, scratch: str) -> None:
    # RFC 4511 4.7: the server adds the values of the RDN.
    dn = f"cn=Named By Its Rdn,{scratch}"
    tools.add(f"dn: {dn}\nobjectClass: inetOrgPerson\nsn: Tester\n")
    assert tools.read(dn, "cn").texts("cn") == ["Named By Its Rdn"]


def test_rdn_of_two_values_is_found_in_either_order(tools: Tools, scratch: str) -> None:
    tools.add(f"dn: cn=Two+sn=Parts,{scratch}\nobjectClass: inetOrgPerson\ncn: Two\nsn: Parts\n")
    assert tools.exists(f"sn=parts + cn=two,{scratch}")


def test_attributes_with_language_tags_are_subtypes(tools: Tools, scratch: str) -> None:
    # RFC 3866 2, RFC 4512 2.5.2: an option makes a subtype of the description without the option.
    dn = f"cn=Tagged,{scratch}"
    tools.add(person(dn, "description: hello", "description;lang-fr: bonjour"))
    both = tools.read(dn, "description").attributes
    assert both == {"description": [b"hello"], "description;lang-fr": [b"bonjour"]}
    assert set(tools.read(dn, "description;lang-fr").attributes) == {"description;lang-fr"}
    assert tools.search(scratch, "(description=bonjour)", "1.1").dns == [dn]
    assert tools.search(scratch, "(description;lang-fr=bonjour)", "1.1").dns == [dn]
    assert tools.search(scratch, "(description;lang-fr=hello)", "1.1").dns == []


def test_continue_option_adds_the_entries_after_an_error(
    tools: Tools, someone: str, scratch: str
) -> None:
    text = person(someone) + "\n" + person(f"cn=After,{scratch}")
    assert tools.as_admin("ldapadd", "-c", text=text).code == ENTRY_ALREADY_EXISTS
    assert tools.exists(f"cn=After,{scratch}")


# --- modify ---------------------------------------------------------------------------------


def test_add_delete_and_replace_change_only_the_named_attributes(
    tools: Tools, someone: str
) -> None:
    changes = [
        "add: mail", "mail: a@example.com", "mail: b@example.com", "-",
        "delete: description", "description: ONE", "-",
        "replace: givenName", "givenName: Other", "givenName: Another", "-",
    ]  # fmt: skip
    assert modify(tools, someone, *changes) == 0
    entry = tools.read(someone)
    assert entry.texts("mail") == ["a@example.com", "b@example.com"]
    assert entry.texts("description") == ["two"]
    assert entry.texts("givenName") == ["Another", "Other"]


# RFC 4511 4.6: a replace without a value deletes the attribute, and is no error if it is missing.
@pytest.mark.parametrize(
    "changes", [["delete: description"], ["replace: description", "-", "replace: mail"]]
)
def test_change_without_values_removes_the_whole_attribute(
    tools: Tools, someone: str, changes: list[str]
) -> None:
    assert modify(tools, someone, *changes) == 0
    assert "description" not in tools.read(someone).attributes


def test_modify_increment_adds_to_the_value(tools: Tools, scratch: str) -> None:
    dn = f"cn=Counter,{scratch}"
    tools.add(person(dn, "objectClass: extensibleObject", "uidNumber: 41"))
    assert modify(tools, dn, "increment: uidNumber", "uidNumber: 1") == 0
    assert tools.read(dn).texts("uidNumber") == ["42"]
    assert modify(tools, dn, "increment: uidNumber", "uidNumber: -2") == 0
    assert tools.read(dn).texts("uidNumber") == ["40"]
    assert modify(tools, dn, "increment: gidNumber", "gidNumber: 1") == NO_SUCH_ATTRIBUTE


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (["add: description", "description: one"], ATTRIBUTE_OR_VALUE_EXISTS),
        (["add: description", "description: ONE"], ATTRIBUTE_OR_VALUE_EXISTS),
        (["delete: description", "description: three"], NO_SUCH_ATTRIBUTE),
        (["delete: telephoneNumber"], NO_SUCH_ATTRIBUTE),
        # notAllowedOnRDN (RFC 4511 4.6); slapd says namingViolation
        (["delete: cn", "cn: Someone"], {NOT_ALLOWED_ON_RDN, NAMING_VIOLATION}),
        (["replace: cn", "cn: Someone Else"], {NOT_ALLOWED_ON_RDN, NAMING_VIOLATION}),
        (["add: displayName", "displayName: a", "displayName: b"], CONSTRAINT_VIOLATION),
        (["replace: createTimestamp", "createTimestamp: 19970101000000Z"], CONSTRAINT_VIOLATION),
    ],
)
def test_refused_modify_changes_nothing(
    tools: Tools, someone: str, changes: list[str], code: int | set[int]
) -> None:
    before = tools.read(someone, "*", "modifyTimestamp", "entryCSN")
    # A modify is atomic (RFC 4511 4.6): the valid change before the invalid one must not remain.
    got = modify(tools, someone, "add: mail", "mail: good@example.com", "-", *changes)
    assert got in (code if isinstance(code, set) else {code})
    assert tools.read(someone, "*", "modifyTimestamp", "entryCSN") == before


def test_only_slapd_enforces_object_classes(tools: Tools, someone: str, scratch: str) -> None:
    """The embedded directory accepts any class and any attribute (docs/conformance.md)."""
    embedded = tools.server.is_embedded
    assert modify(tools, someone, "delete: sn") == (0 if embedded else OBJECT_CLASS_VIOLATION)
    unknown = modify(tools, someone, "add: shoeSize", "shoeSize: 42")
    assert unknown == (0 if embedded else UNDEFINED_ATTRIBUTE_TYPE)
    strange = f"dn: cn=Strange,{scratch}\nobjectClass: spaceAlien\n"
    added = tools.as_admin("ldapadd", text=strange).code
    assert added == (0 if embedded else INVALID_ATTRIBUTE_SYNTAX)


def test_only_the_administrator_reads_passwords(tools: Tools, someone: str) -> None:
    assert modify(tools, someone, "add: userPassword", "userPassword: secret") == 0
    assert "userPassword" not in tools.read(someone, "*", "userPassword").attributes
    probed = tools.search(someone, "(userPassword=secret)", "1.1")
    assert probed.dns == []
    seen = tools.as_admin("ldapsearch", "-LLL", "-b", someone, "(objectClass=*)", "userPassword")
    assert "userPassword" in seen.entries[0].attributes


# --- delete ---------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [["cn=Someone,{0}"], ["-r", "{0}"]])
def test_delete_removes_an_entry_or_a_whole_subtree(
    tools: Tools, someone: str, scratch: str, options: list[str]
) -> None:
    argv = [option.format(scratch) for option in options]
    assert tools.as_admin("ldapdelete", *argv).code == 0
    assert not tools.exists(argv[-1])
    assert not tools.exists(someone)


# --- modify DN ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        (["cn=Renamed"], ["Renamed", "Someone"]),
        (["-r", "cn=Renamed"], ["Renamed"]),
        (["-r", "cn=SOMEONE"], ["SOMEONE"]),
    ],
)
def test_rename_removes_the_old_rdn_only_with_option_r(
    tools: Tools, someone: str, scratch: str, argv: list[str], values: list[str]
) -> None:
    *options, new_rdn = argv
    assert tools.as_admin("ldapmodrdn", *options, someone, new_rdn).code == 0
    entry = tools.read(f"{new_rdn},{scratch}")
    assert (entry.dn, entry.texts("cn")) == (f"{new_rdn},{scratch}", values)
    assert tools.exists(someone) == (new_rdn == "cn=SOMEONE")
    for name in ("Renamed", "Someone"):
        matches = name.lower() in [value.lower() for value in values]
        assert tools.search(scratch, f"(cn={name})").dns == [entry.dn] * matches


def test_new_superior_moves_the_entry(tools: Tools, someone: str, scratch: str) -> None:
    other = f"ou=Other,{scratch}"
    tools.add(f"dn: {other}\nobjectClass: organizationalUnit\n")
    assert tools.as_admin("ldapmodrdn", "-r", "-s", other, someone, "cn=Moved").code == 0
    assert not tools.exists(someone)
    assert tools.read(f"cn=Moved,{other}", "sn").texts("sn") == ["Tester"]


def test_subtree_moves_with_its_root(tools: Tools, someone: str, scratch: str) -> None:
    inner = f"ou=Inner,{scratch}"
    tools.add(f"dn: {inner}\nobjectClass: organizationalUnit\n")
    tools.add(person(f"cn=Child,{inner}"))
    assert tools.as_admin("ldapmodrdn", "-r", inner, "ou=Outer").code == 0
    assert tools.search(scratch, "(cn=Child)").dns == [f"cn=Child,ou=Outer,{scratch}"]
    assert not tools.exists(f"cn=Child,{inner}")


# --- compare --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assertion", "code"),
    [
        ("sn:Lovelace", COMPARE_TRUE),
        ("sn:LOVELACE", COMPARE_TRUE),
        ("sn:Hopper", COMPARE_FALSE),
        ("telephoneNumber:+44 20 79460001", COMPARE_TRUE),
        ("givenName::QWRh", COMPARE_TRUE),
        ("title:Countess", NO_SUCH_ATTRIBUTE),
        ("nosuchattribute:x", UNDEFINED_ATTRIBUTE_TYPE),
    ],
)
def test_compare_returns_true_false_or_error(tools: Tools, assertion: str, code: int) -> None:
    assert tools.run("ldapcompare", ADA, assertion).code == code


# --- bind -------------------------------------------------------------------------------------


def test_whoami_returns_the_bound_dn(tools: Tools) -> None:
    assert tools.run("ldapwhoami").out.strip() == "anonymous"
    assert tools.as_admin("ldapwhoami").out.strip() == f"dn:{tools.server.admin_dn}"
    assert tools.as_admin("ldapexop", "whoami").out.strip() == f"dn:{tools.server.admin_dn}"
    ada = tools.run("ldapwhoami", "-D", ADA, "-w", "engine")
    assert ada.out.strip().lower() == f"dn:{ADA}".lower()


@pytest.mark.parametrize(
    ("dn", "password", "code"),
    [
        ("cn=admin,o=Intranet", "wrong", INVALID_CREDENTIALS),
        (ADA, "wrong", INVALID_CREDENTIALS),
        # The result is the same for an unknown name: it must not reveal which entries exist (RFC
        # 4513 5.1.3).
        (f"cn=Nobody,{OFFICE_BASE}", "engine", INVALID_CREDENTIALS),
        (OFFICE_BASE, "engine", INVALID_CREDENTIALS),
        # A name without a password is an unauthenticated bind (RFC 4513 5.1.2).
        ("cn=admin,o=Intranet", "", UNWILLING_TO_PERFORM),
    ],
)
def test_unauthenticated_bind_is_refused(tools: Tools, dn: str, password: str, code: int) -> None:
    assert tools.run("ldapwhoami", "-D", dn, "-w", password).code == code


def test_ldap_version_2_is_served(tools: Tools) -> None:
    ran = tools.run("ldapsearch", "-P", "2", "-LLL", "-b", ADA, "-s", "base", "(sn=*)", "sn")
    ran.check(0)
    assert ran.entries[0].texts("sn") == ["Lovelace"]


def test_only_the_administrator_writes_if_configured(tools: Tools, someone: str) -> None:
    add = tools.run("ldapadd", text=person(f"cn=Intruder,{OFFICE_BASE}"))
    assert add.code in REFUSED_TO_ANONYMOUS
    text = f"dn: {someone}\nchangetype: modify\nadd: mail\nmail: x@example.com\n"
    assert tools.run("ldapmodify", text=text).code in REFUSED_TO_ANONYMOUS
    assert tools.run("ldapdelete", someone).code in REFUSED_TO_ANONYMOUS
    assert tools.run("ldapmodrdn", someone, "cn=Stolen").code in REFUSED_TO_ANONYMOUS
    assert tools.exists(someone)


def test_everybody_writes_to_a_directory_without_administrator(open_server: Served) -> None:
    tools = Tools(open_server)
    dn = "cn=Anybody,ou=Scratch,o=Intranet"
    assert tools.run("ldapadd", text=person(dn)).code == 0
    text = f"dn: {dn}\nchangetype: modify\nreplace: mail\nmail: x@example.com\n"
    assert tools.run("ldapmodify", text=text).code == 0
    assert tools.read(dn).texts("mail") == ["x@example.com"]
    assert tools.run("ldapdelete", dn).code == 0
    assert not tools.exists(dn)


# --- refusals of any operation ------------------------------------------------------------------

REFUSED = [
    ("ldapadd", person("cn=Someone,{0}"), {ENTRY_ALREADY_EXISTS}, ""),
    ("ldapadd", person("CN=SOMEONE,{0}"), {ENTRY_ALREADY_EXISTS}, ""),
    ("ldapadd", person("cn=Orphan,ou=Nowhere,{0}"), {NO_SUCH_OBJECT}, "matched DN: {0}"),
    ("ldapadd", person("cn=X,dc=example,dc=com"), {NO_SUCH_OBJECT, UNWILLING_TO_PERFORM}, ""),
    # RFC 4511 4.7 with 4.1.7: values of an attribute are a set under its equality rule.
    (
        "ldapadd",
        person("cn=X,{0}", "mail: a@B.fr", "mail: A@b.fr"),
        {ATTRIBUTE_OR_VALUE_EXISTS},
        "",
    ),
    (
        "ldapmodify",
        "dn: cn=Nobody,{0}\nchangetype: modify\nadd: mail\nmail: x@example.com\n",
        {NO_SUCH_OBJECT},
        "matched DN: {0}",
    ),
    ("ldapdelete {0}", "", {NOT_ALLOWED_ON_NON_LEAF}, ""),
    ("ldapdelete cn=Nobody,{0}", "", {NO_SUCH_OBJECT}, ""),
    ("ldapdelete -e !1.2.3 cn=Someone,{0}", "", {UNAVAILABLE_CRITICAL_EXTENSION}, ""),
    ("ldapmodrdn -r cn=Someone,{0} cn=Taken", "", {ENTRY_ALREADY_EXISTS}, ""),
    ("ldapmodrdn -s ou=Nowhere,{0} cn=Someone,{0} cn=Someone", "", {NO_SUCH_OBJECT}, ""),
    ("ldapmodrdn -s cn=Someone,{0} {0} ou=Loop", "", {NO_SUCH_OBJECT, UNWILLING_TO_PERFORM}, ""),
    ("ldapcompare -e !1.2.3 {0} ou:x", "", {UNAVAILABLE_CRITICAL_EXTENSION}, ""),
    ("ldapcompare cn=Nobody,{0} sn:x", "", {NO_SUCH_OBJECT}, "Matched DN: {0}"),
    ("ldappasswd -s x cn=Nobody,{0}", "", {1}, "Result: No such object (32)"),
    ("ldapexop refresh cn=Someone,{0} 60", "", {OBJECT_CLASS_VIOLATION}, ""),
    ("ldapexop refresh cn=Nobody,{0} 60", "", {NO_SUCH_OBJECT}, ""),
    # slapd: noSuchOperation (RFC 3909 3); a server without cancel: protocolError (RFC 4511 4.12).
    ("ldapexop cancel 99", "", {PROTOCOL_ERROR, NO_SUCH_OPERATION}, ""),
    ("ldapexop 1.2.3.4", "", {PROTOCOL_ERROR}, ""),
]


@pytest.mark.usefixtures("someone")
@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: f"{refused[0]} {refused[2]}")
def test_refused_operation_has_its_result_code_and_changes_nothing(
    tools: Tools, scratch: str, refused: tuple[str, str, set[int], str]
) -> None:
    command, text, codes, words = refused
    tools.add(person(f"cn=Taken,{scratch}"))
    before = tools.search(scratch, "(objectClass=*)", "*", "+").entries
    argv = [word.format(scratch) for word in command.split()]
    ran = tools.as_admin(*argv, text=text.format(scratch) or None)
    assert ran.result in codes, ran.err
    assert words.format(scratch) in ran.err + ran.out
    assert tools.search(scratch, "(objectClass=*)", "*", "+").entries == before


# --- extended operations ------------------------------------------------------------------------


def test_only_the_new_password_is_accepted_after_a_change(tools: Tools, someone: str) -> None:
    assert tools.as_admin("ldappasswd", "-s", "first", someone).code == 0
    assert tools.run("ldapwhoami", "-D", someone, "-w", "first").code == 0
    changed = tools.run("ldappasswd", "-D", someone, "-w", "first", "-a", "wrong", "-s", "no")
    assert changed.code != 0
    assert tools.run("ldapwhoami", "-D", someone, "-w", "no").code == INVALID_CREDENTIALS
