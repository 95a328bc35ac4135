"""`sitebench ils serve` with its options, queried by OpenLDAP's clients."""

import dataclasses
from pathlib import Path

import pytest

from sitebench.seeders.people import Spec, generate
from tests.conformance.content import SKELETON
from tests.conformance.embedded import ServeError, running_embedded
from tests.conformance.ldap3_client import lowered
from tests.conformance.running import running
from tests.conformance.tools import Tools

NEEDS_A_BIND = {1, 8, 48, 49, 50, 53}
REFUSES_WRITES = {8, 50, 53}

# Another suffix, in the style of slapcat: names that need escaping, folded lines, base64, a
# comment, and values that a server generates.
EXPORT = """\
dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
dc: example
o: Example
structuralObjectClass: organization
entryUUID: 5c3f3a5e-8f1b-103e-9c1b-2b5c0d3e8f11
creatorsName: cn=admin,dc=example,dc=com
createTimestamp: 20240131120000Z
entryCSN: 20240131120000.000000Z#000000#000#000000
modifiersName: cn=admin,dc=example,dc=com
modifyTimestamp: 20240131120000Z

# people
dn: ou=people,dc=example,dc=com
objectClass: organizationalUnit
ou: people

dn: uid=jdoe,ou=people,dc=example,dc=com
objectClass: inetOrgPerson
uid: jdoe
cn: John Doe
sn:: RG/Dqw==
description: a line that is folded after many words, as exports fold theirs a
 fter seventy-six columns
userPassword:: c2VjcmV0

dn:: dWlkPWrDtnJnLG91PXBlb3BsZSxkYz1leGFtcGxlLGRjPWNvbQ==
objectClass: inetOrgPerson
uid: jörg
cn: Jörg
sn: Jörg
"""


def test_any_ldif_is_served_under_any_suffix(tmp_path: Path) -> None:
    export = tmp_path / "export.ldif"
    export.write_text(EXPORT)
    options = ("--suffix", "dc=example,dc=com", "--ldif", str(export))
    with running_embedded(tmp_path, *options, anonymous_writes=True) as served:
        tools = Tools(dataclasses.replace(served, suffix="dc=example,dc=com"))
        found = tools.search("dc=example,dc=com", "(objectClass=inetOrgPerson)")
        assert found.dns == [
            "uid=jdoe,ou=people,dc=example,dc=com",
            "uid=jörg,ou=people,dc=example,dc=com",
        ]
        john = tools.read("uid=jdoe,ou=people,dc=example,dc=com")
        assert john.texts("sn") == ["Doë"]
        assert john.texts("description")[0].endswith("fold theirs after seventy-six columns")
        assert tools.run("ldapwhoami", "-D", john.dn, "-w", "secret").code == 0
        assert tools.read("", "namingContexts").texts("namingContexts") == ["dc=example,dc=com"]


def test_error_in_the_ldif_has_its_line_number(tmp_path: Path) -> None:
    broken = SKELETON + "\ndn: cn=x,o=Intranet\nobjectClass person\n"
    line = broken.splitlines().index("objectClass person") + 1
    with pytest.raises(ServeError, match=rf"line {line}\b"), running("embedded", tmp_path, broken):
        pass


def test_read_only_directory_refuses_every_write(tmp_path: Path) -> None:
    with running("embedded", tmp_path, SKELETON, "--read-only", anonymous_writes=True) as served:
        tools = Tools(served)
        dn = "ou=Scratch,o=Intranet"
        assert tools.exists(dn)
        ou = f"dn: ou=New,{dn}\nobjectClass: organizationalUnit\n"
        assert tools.run("ldapadd", text=ou).code in REFUSES_WRITES
        change = f"dn: {dn}\nchangetype: modify\nadd: description\ndescription: x\n"
        assert tools.run("ldapmodify", text=change).code in REFUSES_WRITES
        assert tools.run("ldapmodrdn", dn, "ou=Other").code in REFUSES_WRITES
        assert tools.run("ldapdelete", dn).code in REFUSES_WRITES
        assert tools.exists(dn)


def test_require_bind_hides_entries_from_anonymous_clients(tmp_path: Path) -> None:
    with running("embedded", tmp_path, SKELETON, "--require-bind") as served:
        tools = Tools(served)
        stranger = tools.search("o=Intranet", "(objectClass=*)")
        assert stranger.code in NEEDS_A_BIND
        assert stranger.entries == []
        assert tools.run("ldapcompare", "o=Intranet", "o:Intranet").code in NEEDS_A_BIND
        known = tools.as_admin("ldapsearch", "-LLL", "-b", "o=Intranet", "(objectClass=*)")
        assert len(known.entries) == 3


def test_generated_people_are_served_and_found_by_name(tmp_path: Path) -> None:
    population = generate(Spec(1_000)).population
    with running_embedded(tmp_path, "--entries", "1k", anonymous_writes=True) as served:
        everyone = Tools(served).search("ou=Dynamic,o=Intranet", "(objectClass=RTPerson)").entries
        by_name = Tools(served).search("o=Intranet", f"(cn={population.name(500)})", "1.1")
    assert {entry.dn: lowered(entry.attributes) for entry in everyone} == {
        dn: lowered(attributes) for dn, attributes in map(population.entry, range(1_000))
    }
    assert by_name.dns == [population.dn(500)]
