"""A target that warms up inside the window of an open schedule, which its rate does not show."""

import itertools
from pathlib import Path

from tests.faults.served import Served
from tests.support.cli import in_process
from tests.support.relay import delaying, relayed


def test_warming_target_is_unsettled(directory: Served, tmp_path: Path) -> None:
    answers, loaded_s = itertools.count(), list[float]()

    def warming(at_s: float) -> float:
        # From 6 to 0.5 s, as a busy machine adds tenths of one, and so slowly that as many answers
        # come in each second. For what is asked before there is a load it takes long, too.
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
