"""A population is a pure function of (seed, i), seen from Python."""

import json
from pathlib import Path

import pytest

from sitebench._engine import EngineError, Population
from tests.support.people import BASE, LOCALES, POOLS, small_population

PEOPLE = small_population()


def test_answer_bytes_of_a_range_are_the_sum_over_its_people() -> None:
    each = [PEOPLE.answer_bytes(i, i + 1) for i in range(10, 200)]
    assert PEOPLE.answer_bytes(10, 200) == sum(each)
    assert PEOPLE.answer_bytes(5, 5) == 0


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
