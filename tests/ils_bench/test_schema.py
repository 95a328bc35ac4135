"""The RTPerson schema in each server's format: one definition, which real slapds load."""

import re
from pathlib import Path

import pytest
from ldap3 import SchemaInfo

from ils_bench import schema
from sitebench.seeders.people import Spec, generate
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import in_process
from tests.support.stock_slapd import BASE, CONFIG_ADMIN, PASSWORD, PEOPLE, StockSlapd

ROOT = Path(__file__).parents[2]
NAMES = "attributeTypes objectClasses"


def test_schema_files_are_generated_from_one_definition() -> None:
    definition = ROOT / "native" / "shared" / "people" / "schema" / "rtperson.schema"
    assert schema.text("openldap") == definition.read_text()
    lines = [line for line in definition.read_text().splitlines() if not line.startswith("#")]
    # A keyword and a definition each, on one line (RFC 4512, section 4.1).
    blocks = [" ".join(block.split()) for block in "\n".join(lines).split("\n\n")]
    words = [block.partition(" ") for block in blocks if block]
    for kind, prefix in {"config": "olcAttributeTypes olcObjectClasses", "389ds": NAMES}.items():
        names = dict(zip(("attributetype", "objectclass"), prefix.split(), strict=True))
        expected = [f"{names[keyword]}: {text}" for keyword, _, text in words]
        assert schema.text(kind).splitlines()[-len(expected) :] == expected


@pytest.mark.parametrize("kind", schema.FILES)
def test_schema_command_prints_each_file(kind: str) -> None:
    ran = in_process("ils", "schema", kind)
    assert (ran.code, ran.out) == (0, schema.text(kind))


def test_unknown_server_is_refused_with_the_list_of_servers() -> None:
    in_process("ils", "schema", "exchange").check(2, "use one of openldap, config, 389ds")


def test_389_ds_schema_file_is_read_by_an_independent_parser() -> None:
    lines = schema.text("389ds").splitlines()
    assert lines[1] == "dn: cn=schema"
    values: dict[str, list[str]] = {"attributeTypes": [], "objectClasses": []}
    for line in lines[2:]:
        name, _, value = line.partition(": ")
        values[name].append(value)
    read = SchemaInfo("cn=schema", values, {})
    person = read.object_classes["RTPerson"]
    defined = {name for kind in read.attribute_types.values() for name in kind.name}
    assert {"sIPAddress", "ipAddress", "sFlags", "comment"} <= defined
    own = [name for name in person.may_contain if re.match(r"s[A-Z]|ils|location|comment", name)]
    assert len(own) == len(read.attribute_types) == 17
    assert set(own) <= defined
    assert person.must_contain == ["cn"]


def test_cn_config_accepts_the_schema_while_slapd_runs(stock: StockSlapd, tmp_path: Path) -> None:
    stock.seed("--profile", "paper").check(2, "`sitebench ils schema`")
    ldif = tmp_path / "rtperson.ldif"
    ldif.write_text(schema.text("config"))
    output = stock.client("ldapadd", "-D", CONFIG_ADMIN, "-w", PASSWORD, "-f", str(ldif))
    assert "adding new entry" in output, output
    stock.seed().check(0)
    people = generate(Spec(PEOPLE, locales=LOCALES, base=BASE)).population
    assert people.contents(0, PEOPLE).digest in stock.verify().err
