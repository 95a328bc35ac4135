"""Duration of seeding: people in a file, in a running slapd, and in a test's own directory.

slapd is the one of `--target openldap`, whose database does not wait for the disk (`dbnosync`), the
same for both sides and fresh for each. If it waited, the bench would measure the disk: LMDB
writes each Add through before the next Add, however many are outstanding.

Pipelining saves the waiting for answers. The waiting is long if slapd is across a network, and
short on loopback: there slapd's own work, one Add after the other under LMDB's only writer, is two
thirds of the time of `ldapadd`.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from benches.bench import temporary_folder
from benches.distance import moved_away
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench.options import IlsOptions
from ils_bench.targets.address import DirectoryAddress, parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.probe import connect, exists
from sitebench._engine import seed_directory
from sitebench.seeders.ldif import pieces, write_ldif
from sitebench.seeders.people import Spec, contents_meanwhile, generate

LDIF_PEOPLE = 1_000_000
AWAY_S = 0.001
FIXTURE_PEOPLE = 1_000
STARTS = 25

ROWS = rows_of("ils_seeding")


def trials() -> list[Trial]:
    return [
        Trial("ldif", _ldif_and_cat),
        Trial("seed-slapd", lambda: _seed_and_ldapadd(2_000, AWAY_S)),
        Trial("seed-loopback", lambda: _seed_and_ldapadd(10_000, 0)),
        Trial("fixture", _fixture),
    ]


def _ldif_and_cat() -> Values:
    population = generate(Spec(LDIF_PEOPLE)).population
    with temporary_folder() as folder:
        path = folder / "people.ldif"
        began = time.monotonic()
        with contents_meanwhile(population) as contents:
            write_ldif(population, path)
            contents.result()
        write_s = time.monotonic() - began
        began = time.monotonic()
        with (folder / "copy").open("wb") as copy:
            subprocess.run(["cat", str(path)], stdout=copy, check=True)
        return {"write_s": write_s, "cat_s": time.monotonic() - began}


def _seed_and_ldapadd(size: int, away_s: float) -> Values | Skipped:
    ldapadd = shutil.which("ldapadd")
    if ldapadd is None:
        return Skipped("ldapadd is not installed")
    population = generate(Spec(size)).population

    def seed(address: DirectoryAddress) -> object:
        where = json.dumps({"host": address.host, "port": address.port})
        return seed_directory(where, population, 0, size)

    with temporary_folder() as folder:
        path = folder / "people.ldif"
        people = pieces(population, 0, size, containers=False)
        path.write_bytes(b"".join(piece for _, piece in people))

        def add(address: DirectoryAddress) -> object:
            command = [ldapadd, "-x", "-H", str(address), "-f", str(path)]
            return subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        seeded_s, added_s = (_seconds(fill, away_s) for fill in (seed, add))
    return {"seeded_per_s": size / seeded_s, "ldapadd_per_s": size / added_s}


def _seconds(fill: Callable[[DirectoryAddress], object], away_s: float) -> float:
    """Return the seconds to fill a fresh slapd that has the parent entries of people."""
    with closing(open_openldap(IlsOptions(), Spec(0))) as target, ExitStack() as between:
        address = target.address
        if away_s:
            address = between.enter_context(moved_away(address, away_s))
        began = time.monotonic()
        fill(address)
        return time.monotonic() - began


def _fixture() -> Values:
    """Start directories as the pytest fixture does, and look a person up in each."""
    seconds = []
    for _ in range(STARTS):
        began = time.monotonic()
        with LdapDirectory(entries=FIXTURE_PEOPLE) as directory:
            assert directory.people is not None
            with connect(parse_address(directory.url)) as connection:
                assert exists(connection, directory.people.dn(17))
            seconds.append(time.monotonic() - began)
    return {"start_s": statistics.median(seconds), "second": 1.0}
