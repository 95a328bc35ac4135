"""Seeding a running slapd that is interrupted, killed, or disconnected can always be completed."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from ils_bench.seeding import slapd_folder
from sitebench._engine import seed_directory
from sitebench.errors import EXIT_FAILED
from sitebench.seeders import DEFAULT_BASE
from sitebench.seeders.people import Spec, generate
from sitebench.units import parse_size
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import SITEBENCH, in_process
from tests.support.slapd_folder import Slapd, running
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("slapd")
ARRIVES_WITHIN_S = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for slapd that holds one person."""
    slapd_folder.fill(Spec(1, locales=LOCALES), tmp_path / "people")
    return tmp_path / "people"


def seed_command(slapd: Slapd, size: str) -> list[str]:
    where = ("--to", str(slapd.address), "--entries", size, "--locales", ",".join(LOCALES))
    return ["ils", "seed", *where]


def seed_until(slapd: Slapd, size: str, dn: str, how: signal.Signals) -> str:
    """Seed until a person exists, end the command, and return its output."""
    argv = [*SITEBENCH, *seed_command(slapd, size)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: slapd.has(dn), ARRIVES_WITHIN_S)
        assert process.poll() is None, "it was done before it could be interrupted"
        process.send_signal(how)
        return process.communicate()[1]


@pytest.mark.parametrize("entries", ["8k", pytest.param("100k", marks=pytest.mark.long)])
def test_seeding_interrupted_twice_ends_with_all_people(folder: Path, entries: str) -> None:
    size = parse_size(entries)
    population = generate(Spec(size, locales=LOCALES)).population
    with running(folder) as slapd:
        said = seed_until(slapd, entries, population.dn(size // 20), signal.SIGINT)
        assert "the same command continues from there" in said
        there = slapd.people(DEFAULT_BASE)
        assert 0 < there < size
        one_more = population.dn(there + (size - there) // 8)
        seed_until(slapd, entries, one_more, signal.SIGKILL)
        assert 0 < slapd.people(DEFAULT_BASE) < size
        done = in_process(*seed_command(slapd, entries)).check(0)
        assert slapd.people(DEFAULT_BASE) == size
        verified = in_process("ils", "verify", *seed_command(slapd, entries)[3:])
    digest = population.contents(0, size).digest
    assert "digest" not in done.err
    assert f"digest {digest}" in verified.err
    assert slapd_folder.read(folder) == population.contents(0, size)


def test_seeding_resumes_after_the_server_stopped(folder: Path) -> None:
    population = generate(Spec(8_000, locales=LOCALES)).population
    with running(folder) as slapd:
        argv = [*SITEBENCH, *seed_command(slapd, "8k")]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
            assert eventually(lambda: slapd.has(population.dn(400)), ARRIVES_WITHIN_S)
            slapd.process.kill()
            said = process.communicate()[1]
        assert process.returncode == EXIT_FAILED
        assert "run it again to go on" in said
        assert "of 8,000 people are there" in said
    with running(folder) as slapd:
        assert in_process(*seed_command(slapd, "8k")).code == 0
        assert slapd.people(DEFAULT_BASE) == 8_000
    assert slapd_folder.read(folder) == population.contents(0, 8_000)


def test_gap_left_by_a_killed_seeding_is_filled(folder: Path) -> None:
    population = generate(Spec(3_000, locales=LOCALES)).population
    with running(folder) as slapd:
        where = json.dumps({"host": "127.0.0.1", "port": slapd.address.port})
        seed_directory(where, population, 1_000, 3_000)
        assert in_process(*seed_command(slapd, "3k")).code == 0
        assert slapd.people(DEFAULT_BASE) == 3_000
