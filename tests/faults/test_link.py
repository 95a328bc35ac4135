"""A link that is too slow: it is named, from the tester's side alone."""

from pathlib import Path

import pytest

from sitebench.errors import NotPossible
from sitebench.system.namespace import remote_host
from tests.faults.groups import unavailable
from tests.faults.holding import grades, measured
from tests.faults.links import directory, throttled_link
from tests.support.cli import in_process
from tests.support.programs import required_program


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


@pytest.mark.alone
def test_an_nginx_behind_a_throttled_link_is_bound_by_it(tmp_path: Path) -> None:
    required_program("nginx")
    try:
        with remote_host(10**9):
            pass
    except NotPossible as error:
        unavailable(str(error))
    (point,) = in_process(
        *("web", "sweep", "webbench1-static", "--target", "nginx", "--clients", "8"),
        *("--target-limits", "network=20mbit", "--warmup", "500ms", "--measure", "2s"),
        *("--json", "--out", tmp_path / "run"),
    ).objects
    assert (point["verdict"], point["valid"]) == ("network", True), point["evidence"]
    assert "of its 20 Mbit/s" in point["evidence"]
    # It is watched, and nothing else of it is used up.
    assert {grades(point)[each] for each in ("cpu", "memory", "disk")} == {"no"}
