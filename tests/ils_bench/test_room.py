"""The space for people in a slapd's database: reported before the first add, and when exhausted."""

from pathlib import Path

import pytest

from ils_bench.targets.address import parse_address
from ils_bench.targets.live import say_room
from ils_bench.targets.target import OpenDirectory
from sitebench.seeders.people import Spec
from tests.scenario.servers import PASSWORD, slapd
from tests.support.cli import in_process
from tests.support.programs import required_program

SLAPD = {"objectClass": "top OpenLDAProotDSE"}


@pytest.mark.parametrize(
    ("size", "facts", "said"),
    [
        (
            1_000_000,
            SLAPD,
            "1,000,000 people of the profile person take about 1.5 GiB of a slapd's",
        ),
        (500_000, SLAPD, ""),
        (1_000_000, {"vendorName": "389 Project"}, ""),
    ],
)
def test_size_beyond_the_default_database_limit_is_reported_before_adding(
    size: int, facts: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    address = parse_address("ldap://127.0.0.1:389")
    target = OpenDirectory("the directory", address, "o=x", facts=facts)
    say_room(target, Spec(size, profile="person"))
    shown = " ".join(capsys.readouterr().err.split())
    assert said in shown
    assert bool(said) == bool(shown)


def test_full_database_of_slapd_is_named(tmp_path: Path) -> None:
    required_program("slapd")
    with slapd(tmp_path) as server:
        (tmp_path / "password").write_text(PASSWORD)
        (tmp_path / "password").chmod(0o600)
        who = ("--bind-dn", server.bind_dn, "--password-file", tmp_path / "password")
        to = f"{server.url}/{server.base}"
        ended = in_process("ils", "seed", "--to", to, "--entries", "10k", *who)
    # Without a size in the configuration, slapd's limit is 10 MiB.
    ended.check(1, "set olcDbMaxSize (maxsize; 1 GiB as packaged) to more, and run it again")
