"""Supported hashes of each directory: others are refused by name before any add."""

from pathlib import Path

import pytest

from ils_bench.targets.address import parse_address
from ils_bench.targets.password_schemes import SERVERS, Server, assure_taken, server_of
from ils_bench.targets.probe import root_dse
from ils_bench.targets.target import OpenDirectory
from sitebench import LdapDirectory
from sitebench.errors import BadInput
from sitebench.seeders import HASHES
from sitebench.seeders.people import Spec

DOCS = Path(__file__).parents[2] / "docs"
DN = "ou=people,dc=example,dc=com"


def people(hashed: str | None) -> Spec:
    return Spec(10, profile="person", locales=("en_US",), base=DN, hash=hashed)


def named(name: str) -> str:
    """Return a hash by its name alone, with parameters if required."""
    more = {"pbkdf2-sha256": ":600000", "pbkdf2-sha512": ":210000", "argon2": ":64m"}
    return name + more.get(name, "")


def directory(**root_dse: str) -> OpenDirectory:
    return OpenDirectory("it", parse_address("ldap://127.0.0.1"), DN, facts=root_dse)


def directory_of(server: Server) -> OpenDirectory:
    attribute, part = server.identified_by
    return directory(**{attribute: f"top, {part} 9.9"})


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_hash_unsupported_by_a_server_is_refused_with_the_supported_hashes(server: Server) -> None:
    for name in HASHES:
        if name in server.refuses:
            with pytest.raises(BadInput, match=f"is {server.name}, which does not know") as caught:
                assure_taken(directory_of(server), people(named(name)))
            assert "--hash: " in caught.value.remedy
            assert name not in caught.value.remedy.partition(": ")[2].split(", ")
        else:
            assure_taken(directory_of(server), people(named(name)))


def test_unknown_servers_and_people_without_passwords_are_accepted() -> None:
    assure_taken(directory(vendorName="Someone"), people("argon2:64m"))
    ds389 = next(each for each in SERVERS if each.name == "389-DS")
    assure_taken(directory_of(ds389), Spec(1))
    with pytest.raises(BadInput, match="5,000 rounds alone"):
        assure_taken(directory(vendorName="Apache Software Foundation"), people("crypt:100000"))


def test_embedded_directory_is_recognised_by_its_root_dse() -> None:
    with LdapDirectory(0) as running:
        found = server_of(root_dse(parse_address(running.url)))
    assert found is not None
    assert (found.name, found.refuses) == ("embedded", frozenset())


def test_documented_table_has_each_hash_and_server() -> None:
    lines = (DOCS / "targets.md").read_text().splitlines()
    head = next(line for line in lines if line.startswith("| `--hash` |"))
    assert head.strip("| ").split(" | ")[1:] == [each.name for each in SERVERS]
    for name in HASHES:
        (row,) = [line for line in lines if line.startswith(f"| `{name}` |")]
        for server, cell in zip(SERVERS, row.strip("| ").split(" | ")[1:], strict=True):
            again = "hashed again" if name in server.hashes_again else "taken"
            assert cell == ("refused" if name in server.refuses else again)
