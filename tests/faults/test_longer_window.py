"""A window whose drift may be chance is lengthened, unless its length was set: real runs."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.counts.steady import MOST_WINDOWS
from tests.faults.served import Served
from tests.support.cli import in_process
from tests.support.relay import delaying, relayed

DEFAULT_S = 10.0
GIVEN_S = 5.0


def _wandering(at_s: float) -> float:
    """Return a different delay for each half second."""
    return random.Random(int(2 * at_s)).uniform(0.002, 0.02)


def _wandering_points(directory: Served, folder: Path, *window: str) -> Iterator[dict[str, Any]]:
    """Measure four times a directory whose delay wanders."""
    for attempt in range(4):
        with relayed(directory.port, delaying(_wandering)) as port:
            out = ("--warmup", "0s", "--json", "--out", folder / str(attempt))
            yield in_process(*directory.run(port), *window, *out).objects[0]


@pytest.mark.timeout(300)
def test_undecided_window_is_lengthened_once(directory: Served, tmp_path: Path) -> None:
    # By chance one of ten windows begins and ends at the same rate; on a busy machine one may
    # drift.
    for point in _wandering_points(directory, tmp_path):
        assert point["measure_s"] < (MOST_WINDOWS + 1) * DEFAULT_S
        if point["settled"]["state"] != "unsettled" and point["measure_s"] > 2 * DEFAULT_S - 1:
            return
    raise AssertionError(point["settled"])


@pytest.mark.timeout(300)
def test_window_with_a_set_length_is_not_lengthened(directory: Served, tmp_path: Path) -> None:
    # At least one of four windows is undecided, whatever else the machine does.
    for point in _wandering_points(directory, tmp_path, "--measure", f"{GIVEN_S}s"):
        assert point["measure_s"] < 1.5 * GIVEN_S
        if point["settled"]["state"] == "too-short":
            assert "too-short" in {each["kind"] for each in point["warnings"]}
            return
    raise AssertionError(point["settled"])


# A target that warms up within the window of an open schedule, whose rate does not show it.


def test_target_that_warms_up_in_the_window_is_unsettled(directory: Served, tmp_path: Path) -> None:
    answers, loaded_s = itertools.count(), list[float]()

    def warming(at_s: float) -> float:
        # From 6 to 0.5 s, because a busy machine adds tenths of a second; and so slowly that each
        # second has equally many answers. Requests before the load take long, too.
        if next(answers) < 20:
            return 0.0
        loaded_s.append(at_s)
        return max(0.5, 6 - 0.2 * (at_s - loaded_s[0]))

    with relayed(directory.port, delaying(warming)) as port:
        (point,) = in_process(
            *directory.run(port),
            *("--rate", 10, "--users", 80, "--warmup", "6s", "--measure", "20s"),
            *("--json", "--out", tmp_path / "run"),
        ).objects
    assert point["verdict"] == "unsettled", point["settled"]
    assert not point["valid"]
    assert point["settled"]["evidence"].startswith("the mean latency fell from about ")
