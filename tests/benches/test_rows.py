from itertools import combinations

import pytest

from benches.__main__ import GROUPS, ROWS, choose
from sitebench.errors import UnknownValue


def test_names_of_rows_and_trials_are_unique() -> None:
    keys = [row.key for row in ROWS]
    assert len(set(keys)) == len(keys)
    trials = []
    for rows, bench in GROUPS:
        names = {trial.name for trial in bench(1.0).trials()}
        assert {name for row in rows for name in row.trials} <= names
        trials.append(names)
    for one, other in combinations(trials, 2):
        assert not one & other


def test_rows_are_chosen_by_key() -> None:
    assert [row.key for row in choose(ROWS, "page, lookup")] == ["lookup", "page"]
    assert choose(ROWS, None) == list(ROWS)
    with pytest.raises(UnknownValue, match="unknown row 'speed'"):
        choose(ROWS, "speed")
