"""Populations from harvested pools."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from sitebench._engine import EngineError, Population, hash_facts, profile_facts
from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_LOCALES, HASHES, PROFILES, Profile
from sitebench.seeders.people import People, Spec, generate


def test_first_thousand_people_of_a_million_equal_a_population_of_a_thousand(
    people: People, cache: Path
) -> None:
    spec = Spec(1_000_000, profile=people.spec.profile)
    many = generate(spec, cache=cache).population
    assert many.digest == people.population.digest
    for i in (*range(0, 1_000, 37), 999, 500_000):
        assert people.population.entry(i) == many.entry(i)


def test_ten_thousand_people_have_ten_thousand_different_names(people: People) -> None:
    assert len({people.population.name(i) for i in range(10_000)}) == 10_000


def test_every_locale_is_present_in_its_own_script(cache: Path) -> None:
    population = generate(Spec(2_000), cache=cache).population
    countries: dict[str, int] = {}
    scripts: dict[str, set[str]] = {}
    for i in range(2_000):
        _, attributes = population.entry(i)
        country = attributes["c"][0].decode()
        countries[country] = countries.get(country, 0) + 1
        initial = attributes["sn"][0].decode()[0]
        scripts.setdefault(country, set()).add(unicodedata.name(initial).split()[0])
    assert set(countries) == {locale[-2:] for locale in DEFAULT_LOCALES}
    # 2,000 / 7 = 286 each; four standard deviations are 63.
    assert all(abs(count - 286) < 63 for count in countries.values()), countries
    assert scripts["RU"] == {"CYRILLIC"}
    assert scripts["GR"] == {"GREEK"}
    assert scripts["JP"] == {"CJK"}
    assert scripts["DE"] == {"LATIN"}


@pytest.mark.parametrize("locale", DEFAULT_LOCALES)
def test_lookup_answer_has_the_size_of_the_paper_in_every_locale(locale: str, cache: Path) -> None:
    population = generate(Spec(1, locales=(locale,)), cache=cache).population
    sizes = [population.answer_bytes(i, i + 1) for i in range(0, 2_000_000, 499)]
    assert 1_283 * 0.9 <= min(sizes) <= max(sizes) <= 1_283 * 1.1


@pytest.mark.parametrize("locale", DEFAULT_LOCALES)
def test_add_of_the_small_profile_has_the_size_stated_in_the_paper(
    locale: str, cache: Path
) -> None:
    population = generate(Spec(1, profile="small", locales=(locale,)), cache=cache).population
    sizes = [add_bytes(population, i) for i in range(0, 2_000_000, 499)]
    assert 126 * 0.9 <= min(sizes) <= max(sizes) <= 126 * 1.1


def add_bytes(population: Population, i: int) -> int:
    """Return the size of the AddRequest message, computed independently of the product."""
    dn, attributes = population.entry(i)
    encoded = [
        element(element(len(name)) + element(sum(element(len(value)) for value in values)))
        for name, values in attributes.items()
    ]
    message_id = 3
    return element(message_id + element(element(len(dn.encode())) + element(sum(encoded))))


def element(content: int) -> int:
    """Return the size of a BER element with `content` bytes inside."""
    return 1 + (1 if content < 128 else 2 if content < 256 else 3) + content


def test_manifest_identifies_the_people(people: People, cache: Path) -> None:
    manifest = people.manifest()
    assert manifest["digest"] == people.population.digest
    assert manifest["pools_digest"] == people.pools.digest
    assert manifest["spec"] == people.spec.to_dict()
    assert str(cache) not in str(manifest)


def test_ils_people_have_unique_ascii_addresses(cache: Path) -> None:
    population = generate(Spec(10, profile="ils"), cache=cache).population
    dn, attributes = population.entry(4_711)
    (address,) = attributes["cn"]
    assert address.isascii()
    assert b".4711@example." in address
    assert dn == f"cn={address.decode()},ou=Dynamic,o=Intranet"
    assert len(attributes) == 15


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Spec(10, base="Intranet"), "no distinguished name"),
        (Spec(-1), "negative"),
        (Spec(1, seed=-1), "negative"),
        (Spec(5, profile="nope"), 'there is no profile "nope" of people'),  # type: ignore[arg-type]
    ],
)
def test_impossible_people_are_refused_with_a_remedy(spec: Spec, message: str, cache: Path) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        generate(spec, cache=cache)
    assert ("ou=Dynamic,o=Intranet" if spec.base == "Intranet" else "") in caught.value.remedy


def test_profiles_of_the_seeder_match_those_of_the_engine() -> None:
    for each in PROFILES:
        assert generate(Spec(1, profile=each)).population.naming == profile_facts(each)[1]
    with pytest.raises(EngineError, match=f"use one of {', '.join(PROFILES)}"):
        profile_facts("people")


def test_hashes_of_the_seeder_match_those_of_the_engine() -> None:
    example = {"pbkdf2-sha256": ":1", "pbkdf2-sha512": ":1", "argon2": ":8k"}
    for name in HASHES:
        hashed = name + example.get(name, "")
        people = generate(Spec(1, profile="person", hash=hashed)).population
        (stored,) = people.entry(0)[1]["userPassword"]
        shown, scheme, slow, _ = hash_facts(hashed)
        assert stored.startswith(scheme.encode())
        assert (shown, slow) == (hashed, HASHES.index(name) > HASHES.index("clear"))
    with pytest.raises(EngineError, match="there is no hash") as caught:
        hash_facts("md5")
    assert all(f" {name}" in str(caught.value) for name in HASHES)


def test_specification_survives_serialisation() -> None:
    for spec in (
        Spec(3),
        Spec(3, profile="posix", hash="clear", one_password="x", base="o=x"),
        Spec(3, profile="person", hash="argon2:64m"),
        Spec(3, profile="person", hash="argon2:64m", hash_pool=0),
        Spec(3, profile="person", hash="ssha", hash_pool=7),
    ):
        assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


# RFC 4517, 3.3.31: a telephone number as in E.123.
TAKEN = {"telephoneNumber": r"[0-9 +()/-]+", "uid": r"user\.\d+", "mail": r"user\.\d+@example\.com"}
"""Values that slapd, 389-DS, OpenDJ, ApacheDS and Samba all accept, determined by experiment."""
LONGEST = {"givenName": 64, "sn": 64, "telephoneNumber": 64, "title": 128, "displayName": 256}


@pytest.mark.parametrize("profile", ["person", "posix", "ad"])
def test_people_have_values_that_every_directory_accepts(cache: Path, profile: Profile) -> None:
    population = generate(Spec(2_000, profile=profile), cache=cache).population
    for i in range(0, 2_000_000, 499):
        dn, attributes = population.entry(i)
        attributes.pop("unicodePwd", None)
        assert "c" not in attributes
        for name, values in attributes.items():
            for value in (each.decode() for each in values):
                assert value == value.strip() != ""
                assert max(map(ord, value)) < 0x1_0000
                assert not any(0xE000 <= ord(c) <= 0xF8FF for c in value)
                assert re.fullmatch(TAKEN.get(name, r"(?s).+"), value), (name, value)
                assert len(value) <= LONGEST.get(name, 1_024), (name, value)
        if profile == "ad":
            assert dn.startswith("CN=")
            assert len(attributes["cn"][0].decode()) <= 64
            assert len(attributes["sAMAccountName"][0]) <= 20
        else:
            assert dn == f"uid=user.{i},ou=Dynamic,o=Intranet"


def test_damaged_pools_are_refused_with_a_remedy(tmp_path: Path) -> None:
    path = generate(Spec(1, locales=("ja_JP",)), cache=tmp_path).pools.path
    damaged = path.read_text(encoding="utf-8")[:-1_000].replace("[ja_JP text]", "[ja_JP txet]")
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(BadInput, match="opens no section") as caught:
        generate(Spec(1, locales=("ja_JP",)), cache=tmp_path)
    assert caught.value.remedy
