"""Pools are equal wherever they are harvested, and contain only values suitable for entries."""

import hashlib
import os
import re
import subprocess
import sys
import unicodedata
from importlib import metadata
from pathlib import Path

import pytest

from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_LOCALES
from sitebench.seeders.harvest import FIELDS, harvest
from sitebench.seeders.pools import pools

# Two scripts, and the provider with the fewest names.
FEW = ("en_US", "ja_JP")
# A locale with shipped pools, and one that Faker draws: its Thai sentences are all too long.
DRAWN = ("de_DE", "th_TH")


def sections(text: str) -> dict[str, list[str]]:
    """Return the values of each `[locale field]`."""
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in text.splitlines()[2:]:
        if line.startswith("["):
            values = found[line.strip("[]")] = []
        else:
            values.append(line)
    return found


@pytest.fixture(scope="module")
def harvested(cache: Path) -> dict[str, list[str]]:
    """Return the pools of the default locales."""
    return sections(pools(cache=cache).path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_another_process_harvests_equal_pools(hash_seed: str) -> None:
    program = f"from sitebench.seeders.harvest import harvest; print(harvest({FEW}), end='')"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"}
    root = Path(__file__).parents[2]
    other = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=root, capture_output=True, check=True
    )
    assert other.stdout.decode() == harvest(FEW)


def test_pools_of_one_locale_do_not_depend_on_other_locales() -> None:
    both, alone = sections(harvest(FEW)), sections(harvest(FEW[1:]))
    assert alone.items() <= both.items()


def test_digest_of_pools_matches_the_file(tmp_path: Path) -> None:
    first = pools(FEW, cache=tmp_path)
    assert first.digest == hashlib.sha256(first.path.read_bytes()).hexdigest()
    first.path.unlink()
    assert pools(FEW, cache=tmp_path) == first


def test_second_call_reads_the_pools_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pools(DRAWN, cache=tmp_path)
    again = "sitebench.seeders.pools._put_together"
    monkeypatch.setattr(again, lambda locales: pytest.fail("put together again"))
    assert pools(DRAWN, cache=tmp_path) == first
    assert list(tmp_path.iterdir()) == [first.path], "nothing but the pools is left behind"


def release_of_faker(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that another version of Faker is installed."""
    monkeypatch.setattr(metadata, "version", lambda package: number)


@pytest.mark.parametrize("locales", [DEFAULT_LOCALES, FEW, DRAWN], ids="-".join)
def test_new_release_of_faker_does_not_change_shipped_people(
    locales: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = pools(locales, cache=tmp_path / "ours")
    release_of_faker("99.0", monkeypatch)
    assert pools(locales, cache=tmp_path / "theirs").digest == ours.digest


def test_pools_of_another_release_of_faker_have_a_separate_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache outlives an upgrade, and Faker 99 may have other names."""
    first = pools(DRAWN, cache=tmp_path)
    release_of_faker("99.0", monkeypatch)
    assert pools(DRAWN, cache=tmp_path).path != first.path


@pytest.mark.parametrize("locales", [DEFAULT_LOCALES, FEW], ids="-".join)
def test_shipped_names_need_no_faker(locales: tuple[str, ...], tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['faker'] = None\n"
        "from pathlib import Path; from sitebench.seeders.pools import pools\n"
        f"print(pools({locales}, cache=Path({str(tmp_path)!r})).digest)"
    )
    alone = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert alone.stdout.decode().strip() == pools(locales, cache=tmp_path).digest


def test_drawn_locale_without_suitable_texts_has_english_texts(
    tmp_path: Path, harvested: dict[str, list[str]]
) -> None:
    drawn = sections(pools(("th_TH",), cache=tmp_path).path.read_text(encoding="utf-8"))
    assert drawn["th_TH text"] == harvested["en_US text"]


def test_pools_of_other_locales_or_another_order_have_a_separate_file(tmp_path: Path) -> None:
    first, second = pools(FEW, cache=tmp_path), pools(FEW[::-1], cache=tmp_path)
    assert first.path != second.path
    assert first.digest != second.digest


def test_pools_are_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert pools(FEW).path.parent == tmp_path / "sitebench"


def test_every_locale_has_every_field(harvested: dict[str, list[str]]) -> None:
    names = [field.name for field in FIELDS] + ["country"]
    assert {f"{locale} {name}" for locale in DEFAULT_LOCALES for name in names} == set(harvested)
    assert all(harvested.values())


def test_values_are_unique_and_meet_the_rules_of_their_fields(
    harvested: dict[str, list[str]],
) -> None:
    """Rules of fields are checked when names are drawn; shipped names met earlier rules."""
    for field in FIELDS:
        for locale in DEFAULT_LOCALES:
            values = harvested[f"{locale} {field.name}"]
            assert [value for value in values if not field.suits(value)] == []
            assert len(values) == len(set(values)) <= field.most_values
            assert max(len(value.encode()) for value in values) <= field.max_bytes


def test_names_need_no_escape_in_any_format(harvested: dict[str, list[str]]) -> None:
    for locale in DEFAULT_LOCALES:
        for value in harvested[f"{locale} given"] + harvested[f"{locale} family"]:
            assert not set(value) & set(',+"\\<>;=#*()\0'), value
            assert value == value.strip() == unicodedata.normalize("NFC", value)


def test_pools_have_hundreds_of_names(harvested: dict[str, list[str]]) -> None:
    for locale in ("en_US", "de_DE", "es_ES", "ru_RU", "el_GR"):
        assert min(len(harvested[f"{locale} {field}"]) for field in ("given", "family")) >= 300


def test_names_are_in_the_scripts_of_their_locales(harvested: dict[str, list[str]]) -> None:
    scripts = {"ru_RU": "CYRILLIC", "el_GR": "GREEK", "ja_JP": "CJK", "de_DE": "LATIN"}
    for locale, script in scripts.items():
        for value in harvested[f"{locale} family"]:
            assert any(unicodedata.name(letter).startswith(script) for letter in value), value


def test_user_names_are_ascii_whatever_the_script(harvested: dict[str, list[str]]) -> None:
    for locale in DEFAULT_LOCALES:
        for value in harvested[f"{locale} user"]:
            assert re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", value), value
        assert len(harvested[f"{locale} user"]) >= 300


@pytest.mark.parametrize(
    ("locales", "message"),
    [
        ((), "the list is empty"),
        (("en",), "'en' names no country"),
        (("xx_YY",), "Faker has no locale 'xx_YY'"),
        (("de_DE", "de_DE"), "de_DE is listed twice"),
    ],
)
def test_unknown_locale_is_refused(locales: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        pools(locales, cache=tmp_path)
    assert caught.value.remedy
    assert not list(tmp_path.iterdir())


def test_unusable_cache_of_pools_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(BadInput, match="cannot keep the name pools") as caught:
        pools(FEW, cache=blocked / "below")
    assert "XDG_CACHE_HOME" in caught.value.remedy


@pytest.mark.parametrize(
    ("number", "suits"),
    [
        *[("516-230-4152", True), ("+30 6987 262575", True), ("(09211) 39176", True)],
        *[("965.693.5762x140", False), ("(+30) 6920 000943", False), ("", False)],
    ],
)
def test_telephone_numbers_are_accepted_by_strict_servers(number: str, suits: bool) -> None:
    """By E.123, as RFC 4517 3.3.31 requires; ApacheDS refuses an extension or a full stop."""
    (phone,) = [each for each in FIELDS if each.name == "phone"]
    assert phone.suits(number) == suits
