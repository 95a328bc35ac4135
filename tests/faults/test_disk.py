"""A slow disk is named as the bottleneck, and the machine's pressure shows it as well."""

import time
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace

from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.use import Use
from sitebench.verdict.finding import Grade
from sitebench.verdict.rules.disk import disk
from tests.faults.groups import pressure_group, slow_writes
from tests.faults.holding import SITE, grades, measured
from tests.support.actor import Actor, acting
from tests.support.evidence import evidence


@pytest.mark.alone
def test_slow_disk_is_the_bottleneck_of_durable_updates(tmp_path: Path) -> None:
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
    # io.full shows it only on a quiet machine: any other running program lowers it to zero.
    assert point["resources"]["machine"]["pressure"]["io.some"] > 0.1


THREADS = 200
WRITING = """
import os, threading, time
def write(n):
    file = os.open(f"{folder}/{{n}}", os.O_CREAT | os.O_WRONLY)
    while True:
        os.pwrite(file, b"x" * 4096, 0)
        os.fsync(file)
for n in range({writers}):
    threading.Thread(target=write, args=(n,), daemon=True).start()
for n in range({idle}):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
"""


@pytest.mark.alone
@pytest.mark.parametrize("writers", [THREADS, 1])
def test_disk_wait_of_hundreds_of_threads_is_reported(tmp_path: Path, writers: int) -> None:
    with acting() as actor, slow_writes(tmp_path, per_s=40) as group:
        group.add(actor.pid)
        use = _seen(actor, tmp_path, writers, THREADS - writers)
    assert use.target is not None
    assert use.target.threads == THREADS + 1
    found = disk(evidence(seconds=2.0, use=use))
    assert found.grade == Grade.PRIMARY, found.evidence
    assert "waited for a disk" in found.evidence


@pytest.mark.alone
def test_control_group_shows_one_waiting_thread_of_a_thousand(tmp_path: Path) -> None:
    with pressure_group() as own, acting() as actor, slow_writes(tmp_path, per_s=40) as group:
        group.add(actor.pid)
        own.add(actor.pid)
        use = _seen(actor, tmp_path, 1, 1_000)
    assert use.target is not None
    # Samples of a part of the threads find the waiting thread only by chance, so they are left out
    # here.
    alone = structs.replace(use, target=replace(use.target, disk_wait_share=0.0))
    found = disk(evidence(seconds=2.0, use=alone))
    assert found.grade == Grade.PRIMARY, found.evidence


def _seen(actor: Actor, folder: Path, writers: int, idle: int) -> Use:
    actor.do(WRITING.format(folder=folder, writers=writers, idle=idle))
    monitor = Monitor(actor.pid)
    start = monitor.sample()
    time.sleep(2)
    use = use_between(start, monitor.sample(), 2.0)
    monitor.close()
    return use
