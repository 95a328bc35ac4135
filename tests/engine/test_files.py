"""File sets: computed a second time here from their definition, and refused sets."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from sitebench._engine import (
    Contents,
    Directory,
    EngineError,
    FileSet,
    LdifCount,
    Population,
    read_people,
    seed_directory,
)
from tests.support.people import small_population

MASK = (1 << 64) - 1
G = 0x9E3779B97F4A7C15
SIZES = {"2k-3k": [2_048, 3_072] * 3, "odd": [0, 1, 17, 0, 1, 17, 0], "wide": [10, 100, 1_000]}
SPEC: dict[str, Any] = {
    "name": "large-filemix",
    "seed": 1997,
    "files_per_class": 3,
    "classes": [
        {"name": "2k-3k", "sizes": [2_048, 3_072]},
        {"name": "odd", "sizes": [0, 1, 17], "files": 7},
        {"name": "wide", "spread": [10, 1_000], "files": 3},
    ],
}
FILES = [(c, k, size) for c, sizes in enumerate(SIZES.values()) for k, size in enumerate(sizes)]


def file_set(**fields: Any) -> FileSet:
    return FileSet(json.dumps(SPEC | fields))


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def content(name: bytes, seed: int, c: int, k: int, size: int) -> bytes:
    """Return the content as the page of the crate `files` defines it."""
    state = mix((seed + G) & MASK)
    for at in range(0, len(name), 8):
        state = mix(state ^ int.from_bytes(name[at : at + 8], "little"))
    state = mix(state ^ len(name))
    key = mix(mix((state + (c + 1) * G) & MASK) ^ k)
    words = (
        mix(((key + j) * G) & MASK) & 0x1F1F1F1F1F1F1F1F | 0x4040404040404040
        for j in range(-(-size // 8))
    )
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


def test_files_match_the_definition_of_their_content() -> None:
    files = file_set()
    assert files.count == len(FILES)
    assert files.bytes == sum(size for _, _, size in FILES)
    for i, (c, k, size) in enumerate(FILES):
        expected = content(b"large-filemix", 1997, c, k, size)
        assert files.content(i) == expected
        assert files.digest(i) == hashlib.sha256(expected).hexdigest()
        assert files.size(i) == size
        assert files.path(i) == f"/large-filemix/{list(SIZES)[c]}/0/{k}.html"
    assert repr(files) == f"<FileSet large-filemix seed=1997 count=16 bytes={files.bytes}>"


def test_file_set_returns_its_specification() -> None:
    assert json.loads(file_set().spec_json) == SPEC


def test_refusal_of_a_file_number_beyond_the_last_file_names_the_file_set() -> None:
    files = file_set()
    for ask in (files.path, files.size, files.digest, files.content, files.checker):
        with pytest.raises(
            EngineError, match="file set large-filemix has 16 files, and no file 16"
        ):
            ask(16)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "a/b"}, "is no name for a file set or a class; use up to 64 letters"),
        ({"classes": []}, "has no class"),
        ({"classes": [{"name": "a"}]}, "needs either sizes or a spread"),
        ({"classes": [{"name": "a", "sizes": [-1]}]}, "not the configuration of a file set"),
        ({"weight": 1}, "unknown field `weight`"),
        ({"files_per_class": 1 << 62}, "more bytes than a file system can hold"),
    ],
)
def test_invalid_file_set_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineError, match=message) as caught:
        file_set(**fields)
    assert caught.value.kind == "BadInput"


# The digest of a directory's content: computed a second time here from its definition.

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
def test_digest_matches_its_definition(profile: str) -> None:
    population = small_population(200, profile=profile)
    assert population.contents(0, 200).digest == digest(population, 200)


@pytest.mark.parametrize("profile", ["paper", "small", "ils"])
def test_directory_and_ldif_file_have_equal_digests(directory: Directory, profile: str) -> None:
    population = small_population(300, profile=profile)
    seed_directory(where(directory), population, 0, 300)
    expected = population.contents(0, 300)
    assert read_people(where(directory), population) == expected
    count = LdifCount()
    count.feed(population.ldif(0, 300, with_containers=True))
    assert count.finish() == expected
    assert repr(expected) == f"<Contents people=300 digest={expected.digest}>"


def test_digest_of_parts_equals_the_digest_of_the_whole() -> None:
    population = small_population(100)
    parts = [population.contents(start, start + 20) for start in range(0, 100, 20)]
    assert sum(parts, start=population.contents(0, 0)) == population.contents(0, 100)


def test_digest_does_not_depend_on_the_base() -> None:
    elsewhere = small_population(20, base="ou=People,dc=example,dc=com")
    assert elsewhere.contents(0, 20) == small_population(20).contents(0, 20)


def test_reading_reports_progress_and_can_be_stopped(directory: Directory) -> None:
    population = small_population(2_000)
    seed_directory(where(directory), population, 0, 2_000)

    class EnoughError(Exception):
        pass

    def stop(done: int) -> None:
        raise EnoughError

    # Two thousand people may be read within the first tenth of a second.
    try:
        found = read_people(where(directory), population, stop)
    except EnoughError:
        return
    assert isinstance(found, Contents)
