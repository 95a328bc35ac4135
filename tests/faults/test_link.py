"""A slow link is named as the bottleneck, from the load generator's side alone."""

from pathlib import Path

import pytest

from sitebench.errors import NotPossible
from sitebench.system.namespace import remote_host
from tests.distributed.network import Host
from tests.faults.groups import unavailable
from tests.faults.holding import grades, measured
from tests.faults.links import PORT, directory, link
from tests.faults.served import LANES, RATE
from tests.support.aftermath import Ground
from tests.support.cli import Ran, in_process
from tests.support.programs import required_program, run_program
from tests.support.waiting import eventually, left_s


@pytest.mark.alone
@pytest.mark.timeout(300)
def test_throttled_link_is_the_bottleneck(tmp_path: Path) -> None:
    with link("20mbit") as (there, here), directory(there) as url:
        point = measured(
            tmp_path,
            *("ils", "run", "lookup", "--entries", "1k", "--users", "64", "--target", url),
            prefix=here.prefix,
            spared="generator",
        )
    assert (point["verdict"], point["valid"]) == ("network", True), point["evidence"]
    assert grades(point)["network"] == "primary"
    assert "queues on the path" in point["evidence"]
    # No other resource of a target across the network is known or reported.
    assert {grades(point)[each] for each in ("cpu", "memory", "disk")} == {"unknown"}
    assert "unwatched" in {each["kind"] for each in point["warnings"]}


@pytest.mark.alone
def test_nginx_behind_a_throttled_link_is_bound_by_the_link(tmp_path: Path) -> None:
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
    # The target is monitored, and none of its other resources is exhausted.
    assert {grades(point)[each] for each in ("cpu", "memory", "disk")} == {"no"}


# An unplugged cable: the connections stay open, without a peer.


def connections(host: Host) -> int:
    """Count the connections of the directory on a host."""
    argv = [*host.prefix, required_program("ss"), "-tnH", "state", "established"]
    return len(run_program([*argv, f"sport = :{PORT}"], check=True).stdout.splitlines())


def test_half_open_connections_time_out_on_both_sides(ground: Ground) -> None:
    patience = ("--limit", "idle_ms=3000")
    with link() as (there, here), directory(there, *patience) as url:
        load = ("ils", "run", "lookup", "--entries", "1k", "--users", str(LANES), "--target", url)
        # No second try with one thread more, because the cable would be plugged in by then.
        threads = ("--threads", "1")
        how = (*RATE, "--timeout", "400ms", "--warmup", "0s", "--measure", "12s", "--json")
        out = ("--out", str(ground.run), "--allow-failures")
        with ground.started(*load, *threads, *how, *out, before=here.prefix) as process:
            assert eventually(lambda: "measure" in ground.phases())
            there.set_link("down")
            assert connections(there) >= LANES
            assert eventually(lambda: ground.failures() >= 2 * LANES)
            # The directory was not notified of the disconnects.
            assert eventually(lambda: connections(there) == 0)
            there.set_link("up")
            said, err = process.communicate(timeout=left_s())
    point = Ran(process.returncode, said, err).point
    kinds = set(point["failures_by_kind"])
    assert "timeout" in kinds <= {"timeout", "connect-timeout", "unreachable"}
    assert ground.right_again()
