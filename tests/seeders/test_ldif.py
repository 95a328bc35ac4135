"""LDIF files that other programs read back contain the population."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitebench._engine import profile_facts
from sitebench.errors import BadInput
from sitebench.seeders.ldif import complete_or_resumable, pieces, write_ldif
from sitebench.seeders.people import People, Spec, generate
from tests.conformance.ldif_output import Entry, parse_entries
from tests.support.programs import required_program, run_program

REPOSITORY = Path(__file__).resolve().parents[2]
RTPERSON = REPOSITORY / "native/shared/people/schema/rtperson.schema"
MSUSER = Path("/etc/ldap/schema/msuser.schema")
"""Active Directory's user in Debian's package; it conflicts with RTPerson's comment."""
# slapcat writes attributes under the first name of their type; ILS clients use the second name.
FIRST_NAMES = {"surname": "sn", "rfc822mailbox": "mail"}
CONFIGURATION = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
include /etc/ldap/schema/nis.schema
include {schema}
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix "o=Intranet"
maxsize 268435456
"""


@pytest.fixture
def database(people: People, tmp_path: Path) -> Path:
    """Return the configuration of an empty OpenLDAP database with the schemas of all profiles."""
    required_program("slapadd")
    folder = tmp_path / "database"
    folder.mkdir()
    configuration = tmp_path / "slapd.conf"
    schema = MSUSER if people.spec.profile == "ad" else RTPERSON
    configuration.write_text(f'{CONFIGURATION.format(schema=schema)}directory "{folder}"\n')
    return configuration


def slap(tool: str, configuration: Path, *arguments: str) -> str:
    """Run one of OpenLDAP's offline tools; its complaints fail the test."""
    command = [str(required_program(tool)), "-f", str(configuration), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_slapadd_loads_the_population_file(people: People, database: Path, tmp_path: Path) -> None:
    path = tmp_path / "people.ldif"
    write_ldif(people.population, path)
    # Without -q, slapadd checks every value against its syntax and every entry against its class.
    # Exception: Active Directory itself adds some attributes that its class requires.
    unchecked = ["-s"] if people.spec.profile == "ad" else []
    slap("slapadd", database, *unchecked, "-l", str(path))
    stored = {entry.dn: lower_names(entry) for entry in parse_entries(slap("slapcat", database))}
    assert len(stored) == 1_000 + 2
    for i in range(1_000):
        dn, attributes = people.population.entry(i)
        entry = stored[dn.replace("CN=", "cn=", 1)]
        for name, values in attributes.items():
            first_name = FIRST_NAMES.get(name, name).lower()
            assert sorted(entry[first_name]) == sorted(values), (dn, name)
        kind, _, _ = profile_facts(people.spec.profile)
        assert kind.encode() in entry["objectclass"]


def lower_names(entry: Entry) -> dict[str, list[bytes]]:
    """Return the attributes under names normalised for LDAP's comparison."""
    return {name.lower(): values for name, values in entry.attributes.items()}


def test_ldif_contains_the_population_in_order(cache: Path) -> None:
    population = generate(Spec(500), cache=cache).population
    text = b"".join(piece for _, piece in pieces(population, 100, 200, containers=False))
    entries = parse_entries(text.decode("ascii"))
    assert len(entries) == 100
    for i, entry in enumerate(entries, start=100):
        assert (entry.dn, entry.attributes) == population.entry(i)


def test_containers_of_an_ldif_file_follow_the_base(cache: Path, tmp_path: Path) -> None:
    population = generate(Spec(1, base="ou=People,dc=example,dc=com"), cache=cache).population
    path = tmp_path / "people.ldif"
    write_ldif(population, path)
    dns = [entry.dn for entry in parse_entries(path.read_text())]
    assert dns == ["dc=example,dc=com", "ou=People,dc=example,dc=com", population.dn(0)]


def test_progress_of_an_ldif_file_ends_with_the_number_of_people(
    cache: Path, tmp_path: Path
) -> None:
    population = generate(Spec(50_000), cache=cache).population
    calls: list[int] = []
    path = tmp_path / "people.ldif"
    size = write_ldif(population, path, calls.append)
    assert calls[-1] == 50_000
    assert calls == sorted(calls)
    assert path.stat().st_size == size


def test_failed_write_leaves_no_partial_file(cache: Path, tmp_path: Path) -> None:
    population = generate(Spec(10), cache=cache).population
    occupied = tmp_path / "people.ldif"
    occupied.mkdir()
    (occupied / "something").touch()
    for path in (occupied, tmp_path / "nowhere" / "people.ldif"):
        with pytest.raises(BadInput, match=r"cannot write .*people\.ldif"):
            write_ldif(population, path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["people.ldif"]


def test_base_without_a_container_class_is_named(cache: Path, tmp_path: Path) -> None:
    population = generate(Spec(1, base="uid=x,o=Intranet"), cache=cache).population
    with pytest.raises(BadInput, match="uid=x") as caught:
        write_ldif(population, tmp_path / "people.ldif")
    assert "create it yourself" in caught.value.remedy
    assert list(pieces(population, 0, 1, containers=False))


def test_interrupted_file_is_compared_and_continued(cache: Path, tmp_path: Path) -> None:
    population = generate(Spec(10_000, profile="small"), cache=cache).population
    path, part = tmp_path / "people.ldif", tmp_path / "people.ldif.part"

    def interrupted(done: int) -> None:
        if done >= 6_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_ldif(population, path, progress=interrupted)
    whole = b"".join(piece for _, piece in pieces(population, 0, 10_000))
    assert whole.startswith(part.read_bytes())
    assert 0 < part.stat().st_size < len(whole)
    # A damaged person is written again, and so are all later people.
    for spoiled in (part.read_bytes(), part.read_bytes()[:-7] + b"garbage", whole + b"more"):
        part.write_bytes(spoiled)
        assert write_ldif(population, path) == len(whole)
        assert path.read_bytes() == whole
    assert [each.name for each in tmp_path.iterdir()] == ["people.ldif"]


def test_refused_second_writer_leaves_the_first_writers_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "people.ldif"
    with complete_or_resumable(path) as first:
        # The file is still empty.
        with (
            pytest.raises(BadInput, match="another program is writing"),
            complete_or_resumable(path),
        ):
            pytest.fail("two write the same file")
        first.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_file_interrupted_before_its_first_byte_is_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), complete_or_resumable(tmp_path / "people.ldif"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_links_and_files_of_other_programs_are_not_overwritten(cache: Path, tmp_path: Path) -> None:
    population = generate(Spec(100, locales=("en_US",)), cache=cache).population
    path, part = tmp_path / "people.ldif", tmp_path / "people.ldif.part"
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    part.symlink_to(theirs)
    with pytest.raises(BadInput, match="symbolic links"):
        write_ldif(population, path)
    if os.geteuid() == 0:  # Only root can make a file of another user's.
        part.unlink()
        part.write_text("theirs")
        os.chown(part, 12_345, 12_345)
        with pytest.raises(BadInput, match="belongs to another user"):
            write_ldif(population, path)
        assert part.read_text() == "theirs"
    assert theirs.read_text() == "theirs"
    assert not path.exists()


# `python seeders/NAME.py` does the same as `sitebench SUITE seed`.

SCRIPTS = Path(__file__).parents[2] / "seeders"
PEOPLE = ("--entries", "10", "--locales", "en_US")
ARGUMENTS = {
    "directory": ("--to", "people.ldif", *PEOPLE),
    "database": ("people.sqlite", *PEOPLE),
    "docroot": ("--to", "docroot", "--files-per-class", "1"),
}


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_seeder_script_can_be_run_directly(script: Path, tmp_path: Path) -> None:
    ran = run_program([sys.executable, script, *ARGUMENTS[script.stem]], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert any(each.stat().st_size > 0 for each in tmp_path.rglob("*") if each.is_file())
