"""A window that cannot tell a drift from chance is measured for longer, in a real run."""

import random
from pathlib import Path

import pytest

from sitebench.counts.steady import MOST_WINDOWS
from tests.faults.served import Served
from tests.support.cli import in_process
from tests.support.relay import delaying, relayed

WINDOW_S = 5.0


def _wandering(at_s: float) -> float:
    """Return a delay of its own for each half second."""
    return random.Random(int(2 * at_s)).uniform(0.002, 0.02)


@pytest.mark.timeout(300)
def test_a_window_that_cannot_tell_is_made_longer_and_no_more_than_that(
    directory: Served, tmp_path: Path
) -> None:
    # By chance one of ten begins and ends at the same rate; on a busy machine one may drift.
    for attempt in range(4):
        with relayed(directory.port, delaying(_wandering)) as port:
            (point,) = in_process(
                *directory.run(port),
                *("--warmup", "0s", "--measure", f"{WINDOW_S}s", "--json"),
                *("--out", tmp_path / str(attempt)),
            ).objects
        assert point["measure_s"] < (MOST_WINDOWS + 1) * WINDOW_S
        if point["settled"]["state"] != "unsettled" and point["measure_s"] > 2 * WINDOW_S - 1:
            return
    raise AssertionError(point["settled"])
