"""A cable that is pulled out: the connections stay, with no peer at their other end."""

import subprocess

from tests.faults.links import PORT, Side, directory, link
from tests.faults.served import LANES, RATE
from tests.support.aftermath import Ground
from tests.support.cli import Ran
from tests.support.programs import required_program
from tests.support.waiting import eventually, left_s


def connections(side: Side) -> int:
    """Count those that the directory at this end has."""
    argv = [*side.prefix, str(required_program("ss")), "-tnH", "state", "established"]
    done = subprocess.run([*argv, f"sport = :{PORT}"], check=True, capture_output=True, text=True)
    return len(done.stdout.splitlines())


def test_half_open_connections_are_given_up_on_both_sides(ground: Ground) -> None:
    patience = ("--limit", "idle_ms=3000")
    with link() as (there, here), directory(there, *patience) as url:
        load = ("ils", "run", "lookup", "--entries", "1k", "--users", str(LANES), "--target", url)
        # No second try, with one thread more: the cable would be in by then.
        threads = ("--threads", "1")
        how = (*RATE, "--timeout", "400ms", "--warmup", "0s", "--measure", "12s", "--json")
        out = ("--out", str(ground.run), "--allow-failures")
        with ground.started(*load, *threads, *how, *out, before=here.prefix) as process:
            assert eventually(lambda: "measure" in ground.phases())
            there.pull()
            assert connections(there) >= LANES
            assert eventually(lambda: ground.failures() >= 2 * LANES)
            # The directory was not told that they are gone.
            assert eventually(lambda: connections(there) == 0)
            there.plug()
            said, err = process.communicate(timeout=left_s())
    ran = Ran(process.returncode, said, err)
    assert ran.code == 0, ran.err
    (point,) = ran.objects
    kinds = set(point["failures_by_kind"])
    assert "timeout" in kinds <= {"timeout", "connect-timeout", "unreachable"}
    assert ground.right_again()
