"""The pipelined writer adds people to both directories, and ldap3 finds them."""

import json

import pytest
from ldap3 import LEVEL

from sitebench._engine import EngineError, remove_people, seed_directory
from sitebench.system.secret import BIND_PASSWORD
from tests.conformance.ldap3_client import Clients, entries, lowered
from tests.conformance.served import Served
from tests.support.cli import in_process
from tests.support.people import small_population

COUNT = 1_500
PROFILES = ("paper", "small", "ils")


def where(server: Served, **more: object) -> str:
    bound = {"bind_dn": server.admin_dn, "password": server.admin_password}
    return json.dumps({"host": server.host, "port": server.port, **bound, **more})


@pytest.mark.parametrize("profile", PROFILES)
def test_seeded_people_are_present_until_they_are_removed(
    server: Served, clients: Clients, scratch: str, profile: str
) -> None:
    base = f"ou=People,{scratch}"
    population = small_population(COUNT, profile=profile, base=base)
    assert seed_directory(where(server), population, 0, COUNT) == COUNT

    connection = clients.raw(server)
    connection.search(base, "(objectClass=RTPerson)", LEVEL, attributes=["*"])
    found = dict(entries(connection))
    assert set(found) == {population.dn(i) for i in range(COUNT)}
    for i in range(0, COUNT, 10):
        held = lowered(found[population.dn(i)])
        wanted = {"objectclass": [b"RTPerson", b"top"]} | lowered(population.entry(i)[1])
        # A server may return the other name of an attribute with two names (MS-TAIL).
        assert sorted(held.values()) == sorted(wanted.values())
        if profile != "ils":
            assert held == wanted

    assert remove_people(where(server), population, 0, COUNT) == COUNT
    assert not connection.search(base, "(objectClass=RTPerson)", LEVEL)


def test_interrupted_seeding_is_resumed(server: Served, scratch: str) -> None:
    base = f"ou=People,{scratch}"
    population = small_population(COUNT, profile="small", base=base)
    assert seed_directory(where(server), population, 0, 700) == 700
    assert seed_directory(where(server), population, 0, COUNT) == COUNT - 700
    assert remove_people(where(server), population, 0, COUNT + 100) == COUNT


def test_seeding_works_with_one_outstanding_request(server: Served, scratch: str) -> None:
    population = small_population(50, profile="small", base=f"ou=People,{scratch}")
    config = where(server, connections=1, window=1)
    assert seed_directory(config, population, 0, 50) == 50
    assert remove_people(config, population, 0, 50) == 50


@pytest.mark.parametrize(
    ("base", "bind", "words"),
    [
        ("{0}", {"bind_dn": None}, r"refuses to add .*bind as a user who may write there"),
        ("{0}", {"password": "wrong"}, r"invalidCredentials.*check bind DN and password"),
        ("ou=A,dc=example,dc=com", {}, r'has no "dc=example,dc=com" and refuses to add it'),
    ],
)
def test_refused_writer_has_advice(
    server: Served, scratch: str, base: str, bind: dict[str, str | None], words: str
) -> None:
    with pytest.raises(EngineError, match=words):
        seed_directory(
            where(server, **bind), small_population(10, base=base.format(scratch)), 0, 10
        )


def people_below(scratch: str) -> tuple[str, ...]:
    return ("--base", f"ou=People,{scratch}", "--entries", "600", "--locales", "en_US")


@pytest.mark.parametrize(
    ("password", "words"), [(None, "no password for"), ("wrong", "invalidCredentials")]
)
def test_refused_seed_names_the_password_option(
    server: Served, scratch: str, password: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if password is not None:
        monkeypatch.setenv(BIND_PASSWORD, password)
    who = ("--bind-dn", server.admin_dn)
    in_process("ils", "seed", "--to", server.url, *people_below(scratch), *who).check(
        2, words, "--password-file"
    )


def test_seed_without_bind_or_outside_the_suffix_is_refused(
    server: Served, scratch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_process("ils", "seed", "--to", f"{server.url}/ou=new,{scratch}").check(
        2, "bind as a user who may write there, with --bind-dn"
    )
    in_process("ils", "verify", server.url, *people_below(scratch)).check(2, "has no entry")
    who = ("--bind-dn", server.admin_dn)
    monkeypatch.setenv(BIND_PASSWORD, server.admin_password)
    in_process("ils", "seed", "--to", f"{server.url}/dc=example,dc=com", *who).check(
        2, "does not take 'dc=example,dc=com'"
    )
