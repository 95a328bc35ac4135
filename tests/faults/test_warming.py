"""A target that warms up inside the window of an open schedule, which its rate does not show."""

import math
from pathlib import Path

from tests.faults.served import Served
from tests.support.cli import in_process
from tests.support.relay import delaying, relayed


def _warming(at_s: float) -> float:
    """Return a delay that falls from 2 s to 4 ms: a busy machine adds little to it."""
    return 0.004 + 1.996 * math.exp(-at_s / 4)


def test_a_target_that_warms_up_within_the_window_is_not_settled(
    directory: Served, tmp_path: Path
) -> None:
    with relayed(directory.port, delaying(_warming)) as port:
        (point,) = in_process(
            *directory.run(port),
            *("--rate", 20, "--users", 64, "--warmup", "2s", "--measure", "10s"),
            *("--json", "--out", tmp_path / "run"),
        ).objects
    assert point["verdict"] == "unsettled", point["settled"]
    assert not point["valid"]
    assert point["settled"]["evidence"].startswith("mean latency changed by -")
