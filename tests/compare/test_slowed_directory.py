"""A directory slowed by 5 % is found; the same directory twice is not.

A real slapd, measured by the real command: a few seconds a repeat, interleaved, target and tester
on cores of their own where there are two. Nothing here asks how fast anything is, and how steady a
machine has to be is not for a test to say: where a comparison says itself that it could not have
shown so little, it is asked for what it says that it can.
"""

from pathlib import Path
from typing import Any

import pytest

from sitebench.compare.comparison import NONE
from tests.compare.slowed import compare, directory

LOSS = 0.05
PAIRS = 15
"""A quiet machine does with eight."""

ATTEMPTS = 4
CERTAIN = 1.5
"""Times what is found four times in five is found every time."""

NULL_PAIRS = 8
"""The fewest that can raise an alarm at all; so this can fail."""

pytestmark = [pytest.mark.alone, pytest.mark.timeout(2400)]


def rows(found: Any) -> dict[str, Any]:
    (point,) = found["points"]
    assert point["measures"], point
    return dict(point["measures"])


def could_show(row: Any) -> float:
    """Return the smallest loss that a row says it could have shown."""
    return 1 - 1 / float(row["detectable"])


def test_a_directory_slowed_by_5_percent_is_found(slapd: object, tmp_path: Path) -> None:
    loss = LOSS
    for seed in range(1, ATTEMPTS + 1):
        with directory(loss) as target:
            out = tmp_path / f"seed{seed}"
            found = compare(out, target.plain, target.slower, repeats=PAIRS, seed=seed, window="2s")
        asked = [rows(found)[name] for name in ("ops_per_s", "p50")]
        assert found["design"] == "pairs"
        assert all(row["verdict"] != "faster" for row in asked), found
        if any(row["verdict"] == "slower" for row in asked):
            return
        least = min(map(could_show, asked))
        assert least > loss / CERTAIN, f"it could have shown {loss:.1%} and did not: {found}"
        loss = min(0.6, CERTAIN * least)
    pytest.fail(f"it does not find {loss:.1%} either, which it said it could: {found}")


def test_a_directory_against_itself_shows_no_difference(slapd: object, tmp_path: Path) -> None:
    # One comparison in twenty may find what is not there; what is there is found twice.
    with directory(LOSS) as target:
        for seed in (1, 2):
            out = tmp_path / f"seed{seed}"
            found = compare(
                out, target.plain, target.plain, repeats=NULL_PAIRS, seed=seed, window="1s"
            )
            least = [row["least_repeats"] for row in rows(found).values()]
            assert max(least) <= NULL_PAIRS, "it could not have failed"
            if {row["verdict"] for row in rows(found).values()} == {NONE}:
                return
    pytest.fail(f"a directory differs from itself, twice: {found}")
