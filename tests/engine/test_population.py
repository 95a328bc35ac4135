"""A population is a pure function of (seed, i), seen from Python."""

import base64
import json
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import EngineError, Population
from tests.support.people import BASE, LOCALES, POOLS, small_population

PEOPLE = small_population()
numbers = st.integers(min_value=0, max_value=2**40)
profiles = st.sampled_from(["paper", "small", "ils"])


@given(numbers, profiles)
def test_person_is_the_same_in_populations_of_every_size(i: int, profile: str) -> None:
    few, many = (small_population(size, profile=profile) for size in (10, 1_000_000))
    assert few.entry(i) == many.entry(i)
    assert few.digest == many.digest


def test_another_seed_yields_other_people() -> None:
    other = small_population(seed=2)
    assert other.digest != PEOPLE.digest
    assert [other.name(i) for i in range(20)] != [PEOPLE.name(i) for i in range(20)]


@given(numbers)
def test_entry_has_its_name_as_attribute(i: int) -> None:
    dn, attributes = PEOPLE.entry(i)
    assert dn == PEOPLE.dn(i) == f"cn={PEOPLE.name(i)},{BASE}"
    assert attributes["cn"] == [PEOPLE.name(i).encode()]
    assert b"RTPerson" in attributes["objectClass"]


def test_people_have_names_in_several_scripts() -> None:
    names = "".join(PEOPLE.name(i) for i in range(100))
    assert any(ord("a") <= ord(letter) <= ord("z") for letter in names)
    assert any(0x0400 <= ord(letter) < 0x0500 for letter in names)
    assert any(ord(letter) >= 0x3000 for letter in names)


def test_lookup_answer_has_the_size_given_in_the_paper() -> None:
    # 1,283 bytes within 10 % (paper 002).
    for i in range(1_000):
        assert 1_155 <= PEOPLE.answer_bytes(i, i + 1) <= 1_411


def test_answer_bytes_of_a_range_are_the_sum_over_its_people() -> None:
    each = [PEOPLE.answer_bytes(i, i + 1) for i in range(10, 200)]
    assert PEOPLE.answer_bytes(10, 200) == sum(each)
    assert PEOPLE.answer_bytes(5, 5) == 0


def ldif_records(text: str) -> Iterator[list[tuple[str, bytes]]]:
    """Parse the unfolded LDIF that `ldif` returns, independently of the product (RFC 2849)."""
    lines = iter(text.splitlines())
    while record := list(takewhile(bool, lines)):
        fields = [line.partition(":") for line in record]
        yield [
            (name, base64.b64decode(value[2:]) if value[0] == ":" else value[1:].encode())
            for name, _, value in fields
        ]


def test_ldif_contains_the_requested_entries() -> None:
    text = PEOPLE.ldif(3, 60, with_containers=True).decode()
    suffix, base, *people = ldif_records(text)
    assert suffix[0] == ("dn", b"o=Intranet")
    assert base[0] == ("dn", BASE.encode())
    for i, record in enumerate(people, start=3):
        dn, attributes = PEOPLE.entry(i)
        assert record[0] == ("dn", dn.encode())
        assert record[1:] == [(name, value) for name in attributes for value in attributes[name]]
    assert len(people) == 57


def test_ldif_without_containers_begins_with_a_person() -> None:
    (person,) = ldif_records(PEOPLE.ldif(0, 1, with_containers=False).decode())
    assert person[0] == ("dn", PEOPLE.dn(0).encode())


def test_missing_pools_are_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"cannot read the pools file .*none"):
        Population(str(tmp_path / "none"), PEOPLE.spec_json)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profile": "huge"}, "huge"),
        ({"locales": ["xx_XX"]}, "xx_XX"),
        ({"locales": []}, "no locales"),
        ({"height": 1}, "height"),
        ({"size": -1}, "-1"),
    ],
)
def test_impossible_specification_is_refused(change: dict[str, object], message: str) -> None:
    spec = {"seed": 1, "size": 1, "profile": "paper", "locales": LOCALES, "base": BASE}
    with pytest.raises(EngineError, match=message):
        Population(str(POOLS), json.dumps(spec | change))


def test_specification_is_unchanged_by_the_engine() -> None:
    spec = json.loads(small_population(7, profile="ils").spec_json)
    assert spec == {"seed": 1, "size": 7, "profile": "ils", "locales": list(LOCALES), "base": BASE}
