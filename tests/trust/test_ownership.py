"""Nothing is written to another machine's target unless somebody says that it is theirs."""

from pathlib import Path

import pytest

from ils_bench.ldap_directory import LdapDirectory
from ps_bench.personalized_site import PersonalizedSite
from sitebench.errors import NotYours
from sitebench.ownership import FLAG, assure_own, on_loopback, own_targets
from tests.distributed.network import network
from tests.ils_bench.test_bad_input import refused
from tests.support.cli import sitebench

STRANGER = "192.0.2.1"
"""Nobody has it (RFC 5737): were it asked anything, the test would wait."""

PEOPLE = ("--entries", "10", "--locales", "en_US")
BRIEF = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "500ms")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is whose, and the journal, of every test to itself."""
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
def test_loopback_is_an_address_and_no_spelling(host: str, is_loopback: bool) -> None:
    assert on_loopback(host) is is_loopback


def test_a_file_names_what_is_ones_own(config: Path) -> None:
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
def test_what_writes_is_refused_before_anybody_is_asked(
    argv: tuple[str, ...], tmp_path: Path
) -> None:
    people = PEOPLE[2:] if "sweep" in argv else PEOPLE
    refused(sitebench(*argv, *people, cwd=tmp_path), 2, STRANGER, FLAG, "own-targets")


def test_a_scenario_file_is_refused_for_what_it_does_and_not_for_its_name(tmp_path: Path) -> None:
    scenario = tmp_path / "site.toml"
    start = ("ps", "run", "--target", f"http://{STRANGER}", "--scenario", str(scenario))
    request = '[[operation]]\nname = "a"\n[[operation.request]]\nmethod = "{}"\n'
    scenario.write_text(request.format("POST"))
    refused(sitebench(*start, *PEOPLE, cwd=tmp_path), 2, FLAG)


def test_a_directory_elsewhere_is_filled_by_its_owner_only(config: Path) -> None:
    with network(0) as net, LdapDirectory(0, host=net.address) as directory:
        added = directory.stats()["adds"]
        seed = ("ils", "seed", "--to", directory.url, *PEOPLE, "--base", "ou=p,o=Intranet")
        refused(sitebench(*seed), 2, net.address, FLAG)
        assert directory.stats()["adds"] == added
        assert sitebench(*seed, FLAG).code == 0
        assert directory.stats()["adds"] == added + 11
        # What is there already is looked up without a word.
        target = ("--target", directory.url, "--base", "ou=p,o=Intranet", *PEOPLE, *BRIEF)
        ran = sitebench("ils", "run", "lookup", *target)
        assert ran.code == 0, ran.err
        config.write_text(f"{net.address}\n")
        ran = sitebench("ils", "run", "add", *target)
        assert ran.code == 0, ran.err


def test_a_site_elsewhere_is_read_by_anybody_and_changed_by_its_owner() -> None:
    with network(0) as net, PersonalizedSite(10, locales=("en_US",), host=net.address) as site:
        target = ("--target", site.url, *PEOPLE, *BRIEF)
        assert sitebench("ps", "run", "page", *target).code == 0
        refused(sitebench("ps", "run", "update", *target), 2, net.address, FLAG)
        assert site.stats()["updates"] == 0
        assert sitebench("ps", "run", "update", *target, FLAG).code == 0
        assert site.stats()["updates"] > 0
