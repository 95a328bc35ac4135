"""The native lane and ldap3 read the same people from both directories."""

import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ldap3 import SUBTREE

from ils_bench.options import IlsOptions
from ils_bench.points import engine_config
from ils_bench.sequences import LOOKUP
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.target import OpenDirectory
from sitebench import _engine
from sitebench.seeders.people import People, Spec, generate
from sitebench.suite_base.points import Load
from tests.conformance.ldap3_client import Clients, lowered
from tests.conformance.random_operations import escaped
from tests.conformance.running import KINDS
from tests.conformance.served import Served
from tests.support.programs import required_program

PEOPLE = 2_000
LOOKUPS = 10_000
BY_NAME = 200
PAGE = 500
PAGED_RESULTS = "1.2.840.113556.1.4.319"
LANES = 8
LOCALES = ("en_US", "ru_RU", "ja_JP")
SEED = 2002


@pytest.fixture(scope="module")
def people() -> People:
    return generate(Spec(PEOPLE, seed=SEED, locales=LOCALES))


@pytest.fixture(scope="module", params=KINDS)
def target(request: pytest.FixtureRequest, people: People) -> Iterator[OpenDirectory]:
    if request.param == "openldap":
        required_program("slapd")
        opened = open_openldap(IlsOptions(), people.spec)
    else:
        # ldap3 decodes received entries before it reads more: on a busy machine a page takes longer
        # than the stall limit.
        limits = {"stall_ms": 600_000}
        opened = open_embedded(IlsOptions(), people.spec, limits=limits)
    yield opened
    opened.close()


def test_native_lane_verifies_every_answer(target: OpenDirectory, people: People) -> None:
    options = IlsOptions(entries=PEOPLE, locales=LOCALES, threads=1, seed=SEED, verify="full")
    config = engine_config(Load(options, target, [LOOKUP], first_added=PEOPLE))
    engine = _engine.Engine(config, people.population)
    engine.start_lanes("lookup", LANES)
    count, failures = 0, {}
    give_up = time.monotonic() + 60
    while count < LOOKUPS and time.monotonic() < give_up:
        time.sleep(0.1)
        for step in engine.drain().steps:
            failures.update(step.failures)
            count += step.count if step.step == "lookup" else 0
    for step in engine.stop(5.0).steps:
        failures.update(step.failures)
    assert failures == {}
    assert count >= LOOKUPS


@pytest.mark.timeout(300)
def test_ldap3_reads_the_whole_population(
    target: OpenDirectory, people: People, clients: Clients
) -> None:
    population = people.population
    address = target.address
    served = Served(target.name, address.host, address.port, "o=Intranet", "", "")
    connection = clients.raw(served, anonymous=True)

    def search(text: str, **more: Any) -> dict[str, dict[str, list[bytes]]]:
        connection.search(target.base, text, SUBTREE, attributes=["*"], **more)
        return {found["dn"]: lowered(found["raw_attributes"]) for found in connection.response}

    wanted = {dn: lowered(held) for dn, held in map(population.entry, range(PEOPLE))}
    everybody: dict[str, dict[str, list[bytes]]] = {}
    cookie: bytes | None = b""
    while cookie is not None:
        everybody |= search("(objectClass=RTPerson)", paged_size=PAGE, paged_cookie=cookie)
        cookie = connection.result["controls"][PAGED_RESULTS]["value"]["cookie"] or None
    assert everybody == wanted

    for i in random.Random(SEED).sample(range(PEOPLE), BY_NAME):
        text = f"(&(objectClass=RTPerson)(cn={escaped(population.name(i))}))"
        dn = population.dn(i)
        assert search(text) == {dn: wanted[dn]}
