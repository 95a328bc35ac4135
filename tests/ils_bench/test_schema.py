"""The RTPerson schema in each server's format: one definition, which real slapds load."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ldap3 import SchemaInfo

from ils_bench import schema
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.openldap import fill, find, write_config
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import in_process
from tests.support.programs import required_program, running_server

ROOT = Path(__file__).parents[2]
NAMES = "attributeTypes objectClasses"
PASSWORD = "correct horse"


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


@contextmanager
def slapd_of_cn_config(folder: Path) -> Iterator[DirectoryAddress]:
    """Run a slapd that is configured over LDAP and lacks the RTPerson schema."""
    config = write_config(folder, Spec(100, locales=LOCALES))
    lines = [line for line in config.read_text().splitlines() if "rtperson" not in line]
    at = lines.index("database mdb")
    lines[at:at] = ["database config", "rootdn cn=config", f'rootpw "{PASSWORD}"']
    config.write_text("\n".join(lines) + "\n")
    # slaptest requires an existing database.
    suffix = folder / "suffix.ldif"
    suffix.write_text("dn: o=Intranet\nobjectClass: organization\no: Intranet\n")
    fill(config, [(0, suffix.read_bytes() + b"\n")])
    (folder / "slapd.d").mkdir()
    where = ("-F", str(folder / "slapd.d"))
    convert = [str(required_program("slaptest")), "-f", str(config), *where]
    subprocess.run(convert, check=True, capture_output=True)
    address = DirectoryAddress("127.0.0.1", free_port())
    with running_server([find("slapd"), "-d", "0", *where, "-h", f"{address}/"], address.port):
        yield address


@pytest.mark.usefixtures("slapd")
def test_cn_config_accepts_the_schema_while_slapd_runs(tmp_path: Path) -> None:
    ldif = tmp_path / "rtperson.ldif"
    ldif.write_text(schema.text("config"))
    people = Spec(100, locales=LOCALES)
    with slapd_of_cn_config(tmp_path) as address:
        who = ("-x", "-H", str(address), "-D", "cn=config", "-w", PASSWORD)
        ldapadd = [str(required_program("ldapadd")), *who, "-f", str(ldif)]
        subprocess.run(ldapadd, check=True, capture_output=True)
        asked = (str(address), "--entries", "100", "--locales", ",".join(LOCALES))
        in_process("ils", "seed", "--to", *asked).check(0)
        verified = in_process("ils", "verify", *asked)
        assert generate(people).population.contents(0, 100).digest in verified.err
