"""Available memory: the machine's, or the part that a control group allows."""

import subprocess
import sys

import psutil

from sitebench.errors import NotPossible
from sitebench.monitor.memory import machine_bytes, usable_bytes
from sitebench.system import groups
from tests.faults.groups import unavailable
from tests.support.programs import run_program

_MOST = 512 * 2**20
_SAYS = "from sitebench.monitor.memory import usable_bytes; print(usable_bytes())"
_SEEDS = ("-m", "sitebench", "ils", "seed", "--to", "/dev/null", "--profile", "person")


def test_available_memory_matches_psutil() -> None:
    assert machine_bytes() == psutil.virtual_memory().total
    assert usable_bytes() <= machine_bytes()


def test_control_group_limits_available_memory() -> None:
    """Only the machine's memory was checked when a hash with a gibibyte was refused."""
    try:
        with groups.memory(_MOST) as group:
            assert _inside(group, "-c", _SAYS).stdout.strip() == str(_MOST)
            refused = _inside(group, *_SEEDS, "--hash", "argon2:1g")
    except NotPossible as error:
        unavailable(str(error))
    assert refused.returncode != 0
    assert "takes 1.0 GiB of memory for each login, and there are 0.5 here" in refused.stderr


def _inside(group: groups.Group, *argv: str) -> subprocess.CompletedProcess[str]:
    enter = f'echo $$ > {group.procs} && exec "$@"'
    return run_program(["/bin/sh", "-c", enter, "sh", sys.executable, *argv])
