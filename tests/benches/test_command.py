"""One bench over the rows of every half."""

import pytest

from benches import ils as directory
from benches import ps as site
from benches.command import choose
from sitebench.errors import UnknownValue

ROWS = [*directory.ROWS, *site.ROWS]


def test_rows_and_trials_of_both_halves_have_names_of_their_own() -> None:
    keys = [row.key for row in ROWS]
    assert len(set(keys)) == len(keys)
    for half, other in ((directory, site), (site, directory)):
        mine = {trial.name for trial in half.Bench(1.0).trials()}
        assert {name for row in half.ROWS for name in row.trials} <= mine
        assert not mine & {trial.name for trial in other.Bench(1.0).trials()}


def test_rows_are_chosen_by_key() -> None:
    assert [row.key for row in choose(ROWS, "page, lookup")] == ["lookup", "page"]
    assert choose(ROWS, None) == ROWS
    with pytest.raises(UnknownValue, match="unknown row 'speed'"):
        choose(ROWS, "speed")
