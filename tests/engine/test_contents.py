"""What a place holds, as a digest: made here a second time from its definition."""

import hashlib
import json
from collections.abc import Iterator

import pytest

from sitebench._engine import (
    Contents,
    Directory,
    EngineError,
    LdifCount,
    Population,
    count_people,
    read_people,
    remove_people,
    seed_directory,
)
from tests.support.people import small_population

FIRST_NAMES = {"surname": "sn", "rfc822mailbox": "mail"}
MODULUS = 1 << 256


def digest(population: Population, size: int) -> str:
    """Return the digest as docs/test-directories.md defines it."""
    total = 0
    for i in range(size):
        _, attributes = population.entry(i)
        pairs = sorted(
            (FIRST_NAMES.get(name.lower(), name.lower()).encode(), value)
            for name, values in attributes.items()
            if name.lower() != "objectclass"
            for value in values
        )
        spelled = b"".join(
            name + b"\0" + len(value).to_bytes(4, "big") + value for name, value in pairs
        )
        total += int.from_bytes(hashlib.sha256(spelled).digest(), "big")
    return f"{total % MODULUS:064x}"


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}")
    yield serving
    serving.stop()


def where(directory: Directory) -> str:
    return json.dumps({"host": "127.0.0.1", "port": directory.port})


@pytest.mark.parametrize("profile", ["paper", "small", "ils"])
def test_the_digest_is_what_its_definition_says(profile: str) -> None:
    population = small_population(200, profile=profile)
    assert population.contents(0, 200).digest == digest(population, 200)


@pytest.mark.parametrize("profile", ["paper", "small", "ils"])
def test_a_directory_and_a_file_hold_the_same(directory: Directory, profile: str) -> None:
    population = small_population(300, profile=profile)
    seed_directory(where(directory), population, 0, 300)
    expected = population.contents(0, 300)
    assert read_people(where(directory), population) == expected
    count = LdifCount()
    count.feed(population.ldif(0, 300, with_containers=True))
    assert count.finish() == expected
    assert repr(expected) == f"<Contents people=300 digest={expected.digest}>"


def test_parts_add_up() -> None:
    population = small_population(100)
    parts = [population.contents(start, start + 20) for start in range(0, 100, 20)]
    assert sum(parts, start=population.contents(0, 0)) == population.contents(0, 100)


def test_another_base_leaves_people_who_they_are() -> None:
    elsewhere = small_population(20, base="ou=People,dc=example,dc=com")
    assert elsewhere.contents(0, 20) == small_population(20).contents(0, 20)


def test_a_broken_file_is_told_with_its_line() -> None:
    with pytest.raises(EngineError, match="line 2"):
        LdifCount().feed(b"dn: o=a\nno colon here\n\n")


def test_people_are_counted_up_to_the_first_who_is_missing(directory: Directory) -> None:
    population = small_population(5_000, profile="small")
    assert count_people(where(directory), population) == 0
    seed_directory(where(directory), population, 0, 5_000)
    assert count_people(where(directory), population) == 5_000
    # What a kill leaves: the last ones are there in part.
    remove_people(where(directory), population, 4_321, 4_322)
    assert count_people(where(directory), population) <= 4_321
    remove_people(where(directory), population, 1_500, 5_000)
    assert count_people(where(directory), population) == 1_500


def test_reading_tells_how_far_it_is_and_can_be_stopped(directory: Directory) -> None:
    population = small_population(2_000)
    seed_directory(where(directory), population, 0, 2_000)

    class EnoughError(Exception):
        pass

    def stop(done: int) -> None:
        raise EnoughError

    # Two thousand may be read within the first tenth of a second.
    try:
        found = read_people(where(directory), population, stop)
    except EnoughError:
        return
    assert isinstance(found, Contents)
