"""The load of other programs on the machine is noticed before a measurement."""

import subprocess
import sys
import time
from pathlib import Path

from sitebench.monitor.others import Others, _Reading, other_programs

SPIN = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"


def test_busy_program_is_noticed_and_named() -> None:
    name = Path(sys.executable).name[:15]
    busy = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        # Other load may starve the busy program itself.
        until = time.monotonic() + 15
        found = other_programs()
        while name not in dict(found.busiest) and time.monotonic() < until:
            found = other_programs()
    finally:
        busy.kill()
        busy.wait()
    assert found.disturb
    assert found.busy_cores > 0.1 * found.cores
    assert name in dict(found.busiest)


def test_cpu_of_this_process_does_not_count_as_that_of_other_programs() -> None:
    """Two cores were busy for a whole second; this process used one, and program 7 the other."""
    before = _Reading(10.0, (100.0, 200.0), 5.0, {7: 1.0, 8: 3.0})
    now = _Reading(11.0, (101.0, 201.0), 6.0, {7: 1.5, 8: 3.01, 2**22 + 9: 0.4})
    found = now.other_use_since(before)
    assert (found.busy_cores, found.cores) == (1.0, 2)
    assert [used for _, used in found.busiest] == [0.5, 0.4]
    assert found.busiest[1][0] == f"process {2**22 + 9}"


def test_note_on_other_programs_names_them_and_a_remedy() -> None:
    assert str(Others(1.7, 2, (("rustc", 1.2), ("cargo\x1b", 0.4)))) == (
        "Other programs use 1.7 of this machine's 2 cores (rustc 1.2, cargo\\x1b 0.4): rates will "
        "be too low, and latencies too high. End them first, or measure on another machine."
    )
    assert not Others(0.19, 2).disturb
    assert Others(0.2, 2).disturb
