"""Seeding into files, streams and folders for slapd; verify compares people with expected ones."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ils_bench.seeding import slapd_folder
from ils_bench.seeding.destinations import LiveDirectory, parse_destination
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.people import suffix_of
from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_BASE, Profile
from sitebench.seeders.people import Spec, generate
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import SITEBENCH, Ran, in_process, sitebench
from tests.support.slapd_folder import running
from tests.support.waiting import eventually

PEOPLE = ("--locales", ",".join(LOCALES))


def ils(command: str, *argv: str) -> Ran:
    return in_process("ils", command, *argv, *PEOPLE)


def digest(ran: Ran) -> str:
    """Return the last digest that a command printed."""
    assert ran.code == 0, ran.err
    word, value = ran.err.splitlines()[-1].split()
    assert word == "digest"
    return value


def digest_of(size: int, profile: Profile = "paper") -> str:
    population = generate(Spec(size, profile=profile, locales=LOCALES)).population
    return population.contents(0, size).digest


def killed(*argv: str, when: Path, how: signal.Signals) -> int:
    """Run a command until a file is begun, and end it."""
    with subprocess.Popen([*SITEBENCH, "ils", *argv], stderr=subprocess.DEVNULL) as process:
        assert eventually(
            lambda: (when.exists() and when.stat().st_size > 0) or process.poll() is not None
        )
        process.send_signal(how)
        return process.wait()


def test_seeded_ldif_file_has_the_digest_of_its_people_and_can_be_piped(tmp_path: Path) -> None:
    path = tmp_path / "people.ldif"
    assert digest(ils("seed", "--to", str(path), "--entries", "2k")) == digest_of(2_000)
    assert digest(ils("verify", str(path), "--entries", "2k")) == digest_of(2_000)
    assert [each.name for each in tmp_path.iterdir()] == ["people.ldif"]

    piped = sitebench("ils", "seed", "--to", "-", "--entries", "2k", *PEOPLE)
    assert piped.out == path.read_text()
    assert digest(piped) == digest_of(2_000)
    command = [*SITEBENCH, "ils", "verify", "-", "--entries", "2k", *PEOPLE]
    with path.open() as file:
        assert subprocess.run(command, stdin=file, check=False).returncode == 0


def test_closed_pipe_ends_seed_quietly() -> None:
    command = " ".join([*SITEBENCH, "ils seed --to - --entries 20k", *PEOPLE])
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("dn: o=Intranet\n", "")


def test_verify_names_missing_and_different_people(tmp_path: Path) -> None:
    path = tmp_path / "people.ldif"
    ils("seed", "--to", str(path), "--entries", "300")
    for asked in (("--entries", "301"), ("--entries", "300", "--seed", "2")):
        ils("verify", str(path), *asked).check(1, f"holds 300 people with digest {digest_of(300)}")
    text = path.read_text()
    path.write_text(text.replace("sPort: 1503", "sPort: 1504", 1))
    assert ils("verify", str(path), "--entries", "300").code == 1
    path.write_text("dn: o=a\nno colon\n")
    ils("verify", str(path), "--entries", "300").check(2, "line 2")
    assert ils("verify", str(tmp_path / "nothing.ldif")).code == 2


@pytest.mark.parametrize("profile", ["paper", "small", "ils"])
@pytest.mark.usefixtures("slapd")
def test_slapd_folder_is_ready_to_run(tmp_path: Path, profile: Profile) -> None:
    folder = tmp_path / "with a space"
    asked = (f"slapd:{folder}", "--entries", "500", "--profile", profile)
    made = ils("seed", "--to", *asked)
    assert digest(made) == digest_of(500, profile)
    assert slapd_folder.command(folder) in made.err
    assert digest(ils("verify", *asked)) == digest_of(500, profile)
    with running(folder) as slapd:
        assert slapd.people(DEFAULT_BASE) == 500
        live = ("--entries", "500", "--profile", profile)
        assert digest(ils("verify", str(slapd.address), *live)) == digest_of(500, profile)
        ils("seed", "--to", *asked).check(2, "slapd is running")


@pytest.mark.usefixtures("slapd")
def test_slapd_folder_accepts_more_people_and_refuses_different_people(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    where = ("--to", f"slapd:{folder}")
    digest(ils("seed", *where, "--entries", "100"))
    assert digest(ils("seed", *where, "--entries", "400")) == digest_of(400)
    assert digest(ils("seed", *where, "--entries", "400")) == digest_of(400)
    for argv, words in (
        (("--entries", "300"), "holds 400 people already"),
        (("--entries", "400", "--seed", "2"), "holds other people"),
        (("--entries", "400", "--base", "ou=x,o=Intranet"), "holds other people"),
    ):
        ils("seed", *where, *argv).check(2, words)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").touch()
    ils("seed", "--to", f"slapd:{tmp_path / 'mine'}").check(2, "is not empty")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("slapd")
def test_interrupted_slapd_folder_is_continued(tmp_path: Path, how: signal.Signals) -> None:
    for attempt in range(5):  # On a busy machine it may be over before it is ended.
        folder = tmp_path / str(attempt)
        asked = ("seed", "--to", f"slapd:{folder}", "--entries", "12k", *PEOPLE)
        if ended := killed(*asked, when=folder / "db" / "data.mdb", how=how):
            break
    assert ended != 0
    assert digest(in_process("ils", *asked)) == digest_of(12_000)
    assert slapd_folder.read(folder).people == 12_000


@pytest.mark.usefixtures("slapd")
def test_changed_slapd_folder_is_detected(tmp_path: Path) -> None:
    people = Spec(200, locales=LOCALES)
    slapd_folder.fill(people, tmp_path / "people")
    with running(tmp_path / "people") as slapd:
        argv = ["ldapdelete", "-x", "-H", str(slapd.address), generate(people).population.dn(7)]
        subprocess.run(argv, check=True)
    with pytest.raises(BadInput, match="something else than the first 199 people"):
        slapd_folder.fill(people, tmp_path / "people")


def test_invalid_destinations_are_refused() -> None:
    for place, words in (
        ("embedded", "is not a running directory"),
        ("slapd:", "names no folder"),
        ("http://127.0.0.1:1", "is a web site, not a directory"),
    ):
        with pytest.raises(BadInput, match=words):
            parse_destination(place)


def test_address_may_contain_the_base() -> None:
    found = parse_destination("ldap://example.com/ou=caf%C3%A9%20people,dc=example,dc=com")
    assert found == LiveDirectory(
        DirectoryAddress("example.com", 389), "ou=café people,dc=example,dc=com"
    )
    assert parse_destination("ldap://example.com:1389") == LiveDirectory(
        DirectoryAddress("example.com", 1389), None
    )


def test_suffix_includes_all_domain_components() -> None:
    assert suffix_of("ou=people,dc=example,dc=com") == "dc=example,dc=com"
    assert suffix_of(r"ou=a,o=Smith\, Jones") == r"o=Smith\, Jones"
    assert suffix_of(r"ou=a\\,o=b") == "o=b"
    assert suffix_of('ou=a, o="Smith, Jones"') == 'o="Smith, Jones"'


@pytest.mark.usefixtures("slapd")
def test_special_characters_in_base_and_folder_reach_slapd_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / 'a "quoted" \\ folder'
    for base in (r"ou=p,o=Smith\, Jones", r"ou=p,o=a\\", r"ou=p,o=\"a", 'ou=p,o="Smith, Jones"'):
        slapd_folder.fill(Spec(2, locales=LOCALES, base=base), folder)
        assert slapd_folder.read(folder).people == 2
        shutil.rmtree(folder)


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x85", "\u2028"])
@pytest.mark.usefixtures("slapd")
def test_base_cannot_inject_slapd_directives(tmp_path: Path, end: str) -> None:
    base = f'o="x{end}logfile {tmp_path / "planted"}{end}"'
    with pytest.raises(BadInput, match="it has control characters"):
        slapd_folder.fill(Spec(2, locales=LOCALES, base=base), tmp_path / "folder")
    assert not (tmp_path / "planted").exists()


@pytest.mark.usefixtures("slapd")
def test_unreadable_manifest_or_destination_is_refused_in_one_line(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "people.json").write_text("")
    file.write_text("something else\n")
    for place, said in ((folder, "holds other people"), (file, "cannot write to")):
        ran = in_process("ils", "seed", "--entries", "10", "--to", f"slapd:{place}").check(2)
        assert said in ran.err.splitlines()[0]
    assert file.read_text() == "something else\n"
