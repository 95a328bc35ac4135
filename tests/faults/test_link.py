"""A link that is too slow: it is named, from the tester's side alone."""

from pathlib import Path

import pytest

from tests.faults.holding import grades, measured
from tests.faults.links import directory, throttled_link


@pytest.mark.alone
@pytest.mark.timeout(300)
def test_a_throttled_link_is_called_the_bottleneck(tmp_path: Path) -> None:
    with throttled_link("20mbit") as (there, here), directory(there) as url:
        point = measured(
            tmp_path,
            *("ils", "run", "lookup", "--entries", "1k", "--users", "64", "--target", url),
            prefix=here.prefix,
            spared="generator",
        )
    assert (point["verdict"], point["valid"]) == ("network", True), point["evidence"]
    assert grades(point)["network"] == "primary"
    assert "queues on the path" in point["evidence"]
    # Of a target across the network nothing else is known, and nothing else is said.
    assert {grades(point)[each] for each in ("cpu", "memory", "disk")} == {"unknown"}
    assert "unwatched" in {each["kind"] for each in point["warnings"]}
