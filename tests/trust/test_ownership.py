"""Writes to a running target need the user's declaration of ownership."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench import sequences
from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench import run
from sitebench.errors import BadInput, NotYours
from sitebench.system.network import on_loopback
from sitebench.targets.ownership import FLAG, assure_own, own_targets
from tests.distributed.network import network
from tests.locustfiles.conftest import LOCUSTFILE, arguments
from tests.locustfiles.conftest import PEOPLE as PEOPLE_OF_LOCUST
from tests.support.cli import in_process
from tests.support.locusts import run_locust
from tests.support.screen import Screen, screen_of
from tests.support.waiting import eventually

STRANGER = "192.0.2.1"
"""An unassigned address (RFC 5737): a request to it would make the test wait."""

PEOPLE = ("--entries", "10", "--locales", "en_US")
BRIEF = ("--users", "2", "--threads", "1", "--rate", "200", "--warmup", "0s", "--measure", "500ms")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test its own declarations of ownership and its own journal."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    own_targets().parent.mkdir(parents=True)
    return own_targets()


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        (STRANGER, False),
        ("127.0.0.1.nowhere.invalid", False),
    ],
)
def test_loopback_is_recognised_by_address_not_by_name(host: str, is_loopback: bool) -> None:
    assert on_loopback(host) is is_loopback


def test_file_of_owned_targets_permits_writes(config: Path) -> None:
    def refuses(host: str, port: int) -> bool:
        try:
            assure_own(host, port, owned=False, what="this")
        except NotYours:
            return True
        return False

    assert refuses(STRANGER, 389)
    config.write_text(f"# of the lab\n{STRANGER}:389  # the old one\nLab.example\n")
    assert not refuses(STRANGER, 389)
    assert refuses(STRANGER, 1389)
    assert not refuses("lab.example", 80)
    config.write_bytes(b"\xff\xfe")
    assert refuses(STRANGER, 389)


@pytest.mark.parametrize(
    "argv",
    [
        ("ils", "run", "add", "--target", f"ldap://{STRANGER}"),
        ("ils", "run", "register", "--target", f"ldap://{STRANGER}"),
        ("ils", "sweep", "--sizes", "10", "--target", f"ldap://{STRANGER}"),
        ("ils", "peak", "add", "--target", f"ldap://{STRANGER}"),
        ("ils", "seed", "--to", f"ldap://{STRANGER}"),
        ("ils", "clean", "--seeded", "--target", f"ldap://{STRANGER}"),
        ("ps", "run", "--target", f"http://{STRANGER}"),
        ("ps", "run", "create", "--target", f"http://{STRANGER}"),
        ("ps", "run", "update", "--target", f"http://{STRANGER}"),
    ],
    ids=" ".join,
)
def test_writes_are_refused_before_connecting(argv: tuple[str, ...], tmp_path: Path) -> None:
    people = PEOPLE[2:] if "sweep" in argv else PEOPLE
    in_process(*argv, *people, cwd=tmp_path).refuse(2, STRANGER, FLAG, "own-targets")


CHANGES = {
    "add": sequences.Add(),
    "delete": sequences.Delete("random"),
    "modify": sequences.Modify((sequences.Change("replace", "description", ("x",)),), "random"),
    "refresh": sequences.Refresh(person="random"),
    "search that refreshes": sequences.Search("(&(cn=Anna*)(sttl=10))"),
}


@pytest.mark.parametrize("step", CHANGES.values(), ids=CHANGES)
def test_writing_steps_are_refused_before_connecting(step: sequences.Step) -> None:
    sequence = sequences.Sequence(
        "own", (sequences.Connect(), sequences.Bind(), sequences.Repeat(2, (step,)))
    )
    with pytest.raises(NotYours, match=STRANGER):
        run(sequence, f"ldap://{STRANGER}", entries=10)


@pytest.mark.parametrize("kind", ["delete", "modify"])
def test_sequence_that_changes_foreign_entries_is_refused_on_loopback(kind: str) -> None:
    sequence = sequences.Sequence("own", (sequences.Connect(), sequences.Bind(), CHANGES[kind]))
    with pytest.raises(NotYours, match=r"changes entries of 127\.0\.0\.1:1 that it did not add"):
        run(sequence, "ldap://127.0.0.1:1", entries=10)


@pytest.mark.parametrize("verb", ["post", "put", "patch", "delete"])
def test_writing_requests_are_refused_before_connecting(verb: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'[[operation]]\n{verb} = "/"\n')
    with pytest.raises(NotYours, match=STRANGER):
        run(str(tmp_path / "own.toml"), f"http://{STRANGER}", entries=10)


DELETING = """
from ils_bench.sequences import Bind, Connect, Delete, Sequence
from ils_bench.users import SequenceUser

class OwnUser(SequenceUser):
    sequence = Sequence("empty", (Connect(), Bind(), Delete("random")), counts="delete")
"""
POSTING = """
from pathlib import Path
from ps_bench.users import SiteUser

Path("press.toml").write_text('[[operation]]\\npost = "/"')

class OwnUser(SiteUser):
    scenario = "press.toml"
"""


@pytest.mark.parametrize(
    ("locustfile", "target"),
    [
        (DELETING, (f"ldap://{STRANGER}",)),
        (DELETING, (f"ldap://{STRANGER}", "--disposable")),
        (POSTING, (f"http://{STRANGER}",)),
    ],
    ids=["directory", "disposable", "site"],
)
def test_locustfile_with_writes_needs_declared_ownership(
    locustfile: str, target: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(locustfile)
    argv = arguments(file, None, "--headless", "-u", "1", "--target", *target)
    run_locust(*argv, cwd=tmp_path).check(2, STRANGER, FLAG)


@pytest.fixture
def elsewhere() -> Iterator[LdapDirectory]:
    """A directory with its people, at an address that is not loopback."""
    with network(0) as net, LdapDirectory(10, locales=("en_US",), host=net.address) as directory:
        yield directory


@pytest.fixture
def screen(elsewhere: LdapDirectory, tmp_path: Path) -> Iterator[Screen]:
    """The page of a locustfile with deletes, at that directory."""
    file = tmp_path / "own.py"
    file.write_text(DELETING)
    yield from screen_of(file, tmp_path, *PEOPLE, "--target", elsewhere.url)


def test_write_from_the_page_is_refused_without_ownership(
    screen: Screen, elsewhere: LdapDirectory
) -> None:
    screen.start("OwnUser", 1)
    assert eventually(lambda: screen.live()["word"] == "failed"), screen.live()
    said = screen.live()["findings"][0]
    assert elsewhere.host in said["message"]
    assert FLAG in said["remedy"]
    assert elsewhere.stats()["deletes"] == 0


def test_remote_directory_is_seeded_only_with_ownership(config: Path) -> None:
    with network(0) as net, LdapDirectory(0, host=net.address) as directory:
        added = directory.stats()["adds"]
        seed = ("ils", "seed", "--to", directory.url, *PEOPLE, "--base", "ou=p,o=Intranet")
        in_process(*seed).refuse(2, net.address, FLAG)
        assert directory.stats()["adds"] == added
        assert in_process(*seed, FLAG).code == 0
        assert directory.stats()["adds"] == added + 11
        # Existing people are looked up without a declaration.
        target = ("--target", directory.url, "--base", "ou=p,o=Intranet", *PEOPLE, *BRIEF)
        in_process("ils", "run", "lookup", *target).check(0)
        config.write_text(f"{net.address}\n")
        in_process("ils", "run", "add", *target).check(0)


def test_remote_site_may_be_read_but_written_only_with_ownership() -> None:
    with network(0) as net, PersonalizedSite(10, locales=("en_US",), host=net.address) as site:
        target = ("--target", site.url, *PEOPLE, *BRIEF)
        assert in_process("ps", "run", "page", *target).code == 0
        in_process("ps", "run", "update", *target).refuse(2, net.address, FLAG)
        assert site.stats()["updates"] == 0
        assert in_process("ps", "run", "update", *target, FLAG).code == 0
        assert site.stats()["updates"] > 0


@pytest.fixture
def empty() -> Iterator[LdapDirectory]:
    """A directory on loopback with its base and no people that sitebench did not start."""
    with LdapDirectory(0) as directory:
        yield directory


REMEDIES = ("--names 'uid=user.{i}'", "sitebench ils seed --to ", FLAG)
HERE = ("--base", "o=Intranet", "--locales", "en_US")


@pytest.mark.parametrize(
    "argv",
    [
        ("run",),
        ("run", "lookup"),
        ("run", "retrieve"),
        ("run", "ils-user", "--session", "5s"),
        ("sweep", "--operations", "connect,lookup"),
        ("peak", "lookup"),
        ("peak", "lookup", "--objective", "p99<50ms"),
    ],
    ids=" ".join,
)
def test_operations_that_only_read_add_no_people(
    argv: tuple[str, ...], empty: LdapDirectory, tmp_path: Path
) -> None:
    size = () if "sweep" in argv else ("--entries", "10")
    before = empty.stats()
    ran = in_process("ils", *argv, "--target", empty.url, *HERE, *size, cwd=tmp_path)
    ran.refuse(2, "needs people", *REMEDIES)
    assert empty.stats()["adds"] == before["adds"]


def test_sweep_without_operations_adds_no_people(empty: LdapDirectory, tmp_path: Path) -> None:
    before = empty.stats()
    ran = in_process("ils", "sweep", "--target", empty.url, *HERE, cwd=tmp_path)
    ran.refuse(2, "the operation 'add' writes to", FLAG, "own-targets")
    assert empty.stats() == before


def test_python_run_of_reads_adds_no_people(empty: LdapDirectory) -> None:
    assert in_process("ils", "seed", "--to", empty.url, "--entries", "1").code == 0
    before = empty.stats()["adds"]
    with pytest.raises(BadInput, match="needs people"):
        run("lookup", empty.url, entries=10)
    assert empty.stats()["adds"] == before


@pytest.mark.parametrize("classes", [("LookupUser",), ()], ids=["lookup", "all"])
def test_locust_run_of_reads_adds_no_people(
    classes: tuple[str, ...], empty: LdapDirectory, tmp_path: Path
) -> None:
    before = empty.stats()["adds"]
    more = ("--headless", "-u", "1", "--target", empty.url, "--base", "o=Intranet")
    ran = run_locust(*arguments(LOCUSTFILE, None, *more, *classes), cwd=tmp_path).check(2, FLAG)
    assert ("needs people" in ran.err) == bool(classes)
    assert empty.stats()["adds"] == before


def test_directory_without_the_last_person_is_refused(empty: LdapDirectory) -> None:
    target = ("--target", empty.url, *HERE)
    assert in_process("ils", "seed", *target, "--entries", "9").code == 0
    in_process("ils", "run", "lookup", *target, "--entries", "10").refuse(2, *REMEDIES)
    assert in_process("ils", "run", "lookup", *target, "--entries", "9", *BRIEF).code == 0


def test_connects_add_no_people(empty: LdapDirectory) -> None:
    before = empty.stats()["adds"]
    target = ("--target", empty.url, *HERE, *PEOPLE, *BRIEF)
    in_process("ils", "run", "connect", *target).check(0)
    in_process("ils", "run", "connect", *target, "--names", "uid=user.{i}", FLAG).check(0)
    assert empty.stats()["adds"] == before


def test_scenario_file_that_declares_ownership_may_write(
    empty: LdapDirectory, config: Path
) -> None:
    before = empty.stats()
    config.write_text("127.0.0.1\n")
    in_process("ils", "run", "lookup", "--target", empty.url, *HERE, *PEOPLE, *BRIEF).check(0)
    after = empty.stats()
    assert after["adds"] == before["adds"] + 10
    assert after["entries"] == before["entries"]


def test_locust_adds_and_removes_people_with_ownership(
    empty: LdapDirectory, tmp_path: Path
) -> None:
    before = empty.stats()
    load = ("--headless", "-u", "2", "--rate", "200", "--warmup", "0s", "--measure", "500ms")
    more = (*load, "--target", empty.url, "--base", "o=Intranet")
    run_locust(*arguments(LOCUSTFILE, None, *more, FLAG, "LookupUser"), cwd=tmp_path).check(0)
    after = empty.stats()
    assert after["adds"] == before["adds"] + PEOPLE_OF_LOCUST
    assert after["entries"] == before["entries"]


def test_add_operation_on_loopback_needs_no_declared_ownership(empty: LdapDirectory) -> None:
    before = empty.stats()
    target = ("--target", empty.url, *HERE, *PEOPLE, *BRIEF)
    in_process("ils", "run", "add", *target).check(0)
    after = empty.stats()
    assert after["adds"] > before["adds"] + 10
    assert after["entries"] == before["entries"]
