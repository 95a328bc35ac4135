"""A disk that is too slow: it is named, and the machine's pressure shows it as well."""

from pathlib import Path

import pytest

from tests.faults.groups import slow_writes
from tests.faults.holding import SITE, grades, measured


@pytest.mark.alone
def test_a_slow_disk_under_durable_updates_is_called_the_bottleneck(tmp_path: Path) -> None:
    with slow_writes(tmp_path, per_s=40) as group:
        point = measured(
            tmp_path,
            *("ps", "run", "update", "--entries", "1k", "--durability", "full"),
            *("--users", "32", "--threads", "1"),
            held=lambda pids: group.add(pids[SITE]),
        )
    assert (point["verdict"], point["valid"]) == ("disk", True), point["evidence"]
    found = grades(point)
    assert (found["disk"], found["cpu"], found["network"]) == ("primary", "no", "no")
    assert "waited for a disk" in point["evidence"]
    # io.full says the same of a quiet machine only: whatever else runs takes it down to nothing.
    assert point["resources"]["machine"]["pressure"]["io.some"] > 0.1
