"""A comparison finds a directory slowed by 5 %, and no difference of a directory from itself.

A real slapd, measured by the real command: a few seconds a repeat, interleaved, target and load
generator on separate cores if there are two. No test here depends on absolute speed. A machine may
be too busy for 5 %, and then the loss is increased; but a loss of five standard errors of the
repeats must always be reported.
"""

import math
import statistics
from pathlib import Path
from typing import Any

import pytest

from sitebench.compare.comparison import NONE
from tests.compare.slowed import compare, directory

PAIRS = 15
"""Eight pairs suffice on a quiet machine."""

LOSSES = (0.05, 0.08, 0.12, 0.18)
"""Losses that are tried one after another until one is found."""

CERTAIN = 5
"""Standard errors that suffice with certainty; the tests of all rows need three and a half."""

NULL_PAIRS = 9
"""The fewest pairs that can raise an alarm, so that this test can fail."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]


def rows(found: Any) -> dict[str, Any]:
    (point,) = found["points"]
    assert point["measures"], point
    return dict(point["measures"])


def stands_out(row: Any) -> float:
    """Return the mean of the logarithms of B/A in standard errors."""
    ratios = [math.log(b / a) for a, b in zip(row["a"], row["b"], strict=True)]
    error = statistics.stdev(ratios) / math.sqrt(len(ratios))
    return abs(statistics.mean(ratios)) / error


def test_comparison_finds_a_directory_slowed_by_5_percent(slapd: object, tmp_path: Path) -> None:
    for seed, loss in enumerate(LOSSES):
        with directory(loss) as target:
            out = tmp_path / f"seed{seed}"
            found = compare(out, target.plain, target.slower, repeats=PAIRS, seed=seed, window="2s")
        asked = [rows(found)[name] for name in ("ops_per_s", "p50")]
        assert found["design"] == "pairs"
        assert all(row["verdict"] != "faster" for row in asked), found
        if any(row["verdict"] == "slower" for row in asked):
            return
        assert max(map(stands_out, asked)) < CERTAIN, f"it did not tell {loss:.0%}: {found}"
    pytest.fail(f"it does not find {loss:.0%} either: {found}")


def test_comparison_of_a_directory_with_itself_shows_no_difference(
    slapd: object, tmp_path: Path
) -> None:
    # One comparison in twenty may find a false difference; a real difference is found twice.
    with directory(LOSSES[0]) as target:
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
