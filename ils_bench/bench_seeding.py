"""What test directories cost: people in a file, in a running slapd, and in a test's own directory.

slapd is that of `--target openldap`, whose database does not wait for the disk (`dbnosync`), the
same for both sides and fresh for each. Where it does wait, the disk is what is measured: LMDB
writes each Add through before it takes the next one, however many are outstanding.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ils_bench.ldap_directory import LdapDirectory
from ils_bench.probe import connected, exists, parse_address
from ils_bench.targets.live import engine_target
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.target import OpenTarget
from seeders.contents import contents_meanwhile
from seeders.ldif import write_ldif
from seeders.people import Spec, generate
from sitebench._engine import seed_directory
from sitebench.bench import Row, Skipped, Trial, Values
from sitebench.errors import ProgramMissing

LDIF_PEOPLE = 1_000_000
LIVE_PEOPLE = 10_000
FIXTURE_PEOPLE = 1_000
STARTS = 25

ROWS: tuple[Row, ...] = (
    Row(
        "ldif",
        "LDIF of 1m people to a file, digest included, s",
        "cat of the same bytes to a file",
        "ldif.write_s",
        "ldif.cat_s",
        3,
        at_most=4,
    ),
    Row(
        "seed-slapd",
        "people/s into a fresh slapd with dbnosync, pipelined",
        "ldapadd of the same LDIF",
        "seed-slapd.seeded_per_s",
        "seed-slapd.ldapadd_per_s",
        4,
        at_least=3,
    ),
    Row(
        "fixture",
        "a directory of 1,000 for one test, start to first answer, median, s",
        "a second",
        "fixture.start_s",
        "fixture.second",
        0.02,
        at_most=0.05,
    ),
)


def trials() -> list[Trial]:
    """Return how the rows are measured."""
    return [
        Trial("ldif", _ldif_and_cat),
        Trial("seed-slapd", _seed_and_ldapadd),
        Trial("fixture", _fixture),
    ]


def _ldif_and_cat() -> Values:
    population = generate(Spec(LDIF_PEOPLE)).population
    with TemporaryDirectory(prefix="sitebench-bench-") as folder:
        path = Path(folder) / "people.ldif"
        began = time.monotonic()
        with contents_meanwhile(population) as contents:
            write_ldif(population, path)
            contents.result()
        write_s = time.monotonic() - began
        began = time.monotonic()
        with (Path(folder) / "copy").open("wb") as copy:
            subprocess.run(["cat", str(path)], stdout=copy, check=True)
        return {"write_s": write_s, "cat_s": time.monotonic() - began}


def _seed_and_ldapadd() -> Values | Skipped:
    ldapadd = shutil.which("ldapadd")
    if ldapadd is None:
        return Skipped("ldapadd is not installed")
    people = Spec(LIVE_PEOPLE)
    population = generate(people).population

    def seed(target: OpenTarget) -> object:
        return seed_directory(json.dumps(engine_target(target)), population, 0, people.size)

    with TemporaryDirectory(prefix="sitebench-bench-") as folder:
        path = Path(folder) / "people.ldif"
        write_ldif(population, path, containers=False)

        def add(target: OpenTarget) -> object:
            command = [ldapadd, "-x", "-H", str(target.address), "-f", str(path)]
            return subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        try:
            return {"seeded_per_s": _rate(seed), "ldapadd_per_s": _rate(add)}
        except ProgramMissing as error:
            return Skipped(error.message)


def _rate(fill: Callable[[OpenTarget], object]) -> float:
    """Return people a second into a slapd of its own, which has the entries above them."""
    with closing(open_openldap(Spec(0))) as target:
        began = time.monotonic()
        fill(target)
        return LIVE_PEOPLE / (time.monotonic() - began)


def _fixture() -> Values:
    """Start directories as the pytest fixture does, and ask each for somebody."""
    seconds = []
    for _ in range(STARTS):
        began = time.monotonic()
        with LdapDirectory(entries=FIXTURE_PEOPLE) as directory:
            assert directory.people is not None
            with connected(parse_address(directory.url), None, None) as connection:
                assert exists(connection, directory.people.dn(17))
            seconds.append(time.monotonic() - began)
    return {"start_s": statistics.median(seconds), "second": 1.0}
