"""Locust's totals compared with the directory's own counters, exactly."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.point_process import Runner
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.locustfiles.conftest import LOCALES, PEOPLE, Counting, Headless, processes
from tests.support.relay import delaying, relayed

USERS = ("-u", "8", "-r", "8")
LOOKUPS = ("searches",)


def test_every_operation_of_every_class_is_counted_once(headless: Headless) -> None:
    each = ("binds", "searches", "adds", "modifies", "deletes")
    ran = headless("-u", "12", "-r", "12", interrupt_after=each).check(0).agree()
    counts = Counter[str]()
    for (program, _), count in ran.counts.items():
        counts[program] += count
    assert set(counts) == {"connect", "add", "lookup", "retrieve", "ils-user", "register"}
    del counts["ils-user"]  # It thinks for minutes.
    assert min(counts.values()) > 100, ran.err
    assert not any(ran.failures.values())


def test_workers_lose_no_operation_and_add_different_people(headless: Headless) -> None:
    classes, each = ("LookupUser", "AddUser"), ("searches", "adds")
    ran = headless(*USERS, *processes(2), *classes, interrupt_after=each).check(0)
    assert {("lookup", "lookup"), ("add", "add")} <= ran.counts.keys(), ran.err
    assert ran.counts["lookup", "lookup"] > 100
    assert ran.counts["add", "add"] > 100
    assert not any(ran.failures.values())
    ran.agree()


LATE = """
import time
from ils_bench.locustfile import LookupUser
from locust import events
from locust.runners import WorkerRunner

@events.init.add_listener
def listen(environment, runner, **_):
    if isinstance(runner, WorkerRunner):
        environment.events.quitting.add_listener(lambda **_: time.sleep(1))
"""


def test_workers_stop_at_the_end_of_the_window_and_leave_the_masters_totals(
    headless: Headless,
) -> None:
    """Locust's workers have the master's `--json-file` if they are forked, and nothing to say."""
    window = ("--rate", "500", "--warmup", "500ms", "--measure", "1s")
    ran = headless(*USERS, *processes(2), *window, code=LATE).check(0).agree()
    assert ran.counts["lookup", "lookup"] > 100


COUNTING = """
from ils_bench.sequences import Add, Bind, Change, Connect, Modify, Sequence
from ils_bench.users import SequenceUser

class CountingUser(SequenceUser):
    increments = Modify((Change("increment", "sFlags", ("1",)),), "new")
    sequence = Sequence("counting", (Connect(), Bind(), Add(), increments), counts="modify")
"""


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_either_client_increments_an_attribute_in_a_sequence(
    headless: Headless, client: str
) -> None:
    ran = headless("-u", "1", "--client", client, code=COUNTING, interrupt_after=("modifies",))
    assert ran.counts["counting", "modify"] > 0, ran.err
    assert not any(ran.failures.values()), ran.err


BINDING = """
from ils_bench.sequences import Bind, Connect, Sequence, Unbind
from ils_bench.users import SequenceUser

class LookupUser(SequenceUser):
    sequence = Sequence("binding", (Connect(), Bind(), Unbind()), counts="bind")
"""


def test_user_defined_class_is_recorded_under_its_sequence(
    headless: Headless, tmp_path: Path
) -> None:
    record = ("--measure", "1s", "--warmup", "0s", "--out", "run.sitebench")
    ran = headless("-u", "2", "-r", "2", "-t", "3s", *record, code=BINDING)
    with RunFile(tmp_path / "run.sitebench") as run:
        assert [point.spec.operation for point in run.points()] == ["binding"], ran.err


SHAPED = """
from locust import LoadTestShape
from ils_bench.locustfile import LookupUser

class Steps(LoadTestShape):
    def tick(self):
        t = self.get_run_time()
        return (6, 6) if t < 1.5 else (2, 6) if t < 3 else None
"""


def test_counts_are_exact_while_users_start_and_stop(headless: Headless) -> None:
    headless("--rate", "200", code=SHAPED).check(0).agree()


BUSY = """
import locust.runners, psutil
from locust import events
from ils_bench.locustfile import LookupUser
locust.runners.CPU_MONITOR_INTERVAL = 0.5

@events.spawning_complete.add_listener
def seem(**_):
    psutil.Process.cpu_percent = lambda self: 180.0

@events.usage_monitor.add_listener
def seen(environment, cpu_usage, **_):
    print("seen", cpu_usage)
    if cpu_usage == 180.0:
        environment.runner.quit()
"""


def test_native_threads_cause_no_cpu_warning_of_locust(headless: Headless) -> None:
    """Locust checks its CPU every 10 s, and warns from 90 % on."""
    load = ("-u", "4", "-r", "4", "--threads", "1", "--rate", "200")
    ran = headless(*load, code=BUSY).check(0, "seen 180.0")
    assert "CPU usage" not in ran.err


ROOT = Path(__file__).parents[2]
OWN_SEQUENCE = ROOT / "examples" / "own_sequence.py"


def test_locustfile_with_a_user_defined_sequence_has_under_20_lines(headless: Headless) -> None:
    assert len(OWN_SEQUENCE.read_text().splitlines()) < 20
    ran = headless(*USERS, locustfile=OWN_SEQUENCE, interrupt_after=LOOKUPS).check(0)
    assert ran.counts["prefix", "search"] > 100
    assert not any(ran.failures.values())


OWN_LISTENER = ROOT / "examples" / "own_listener.py"


@pytest.mark.parametrize("distributed", [False, True])
def test_request_listener_gets_all_counts(headless: Headless, distributed: bool) -> None:
    more = processes(2) if distributed else ()
    load = (*USERS, "--rate", "2k", "--warmup", "0s", "--measure", "1s")
    ran = headless(*load, *more, locustfile=OWN_LISTENER).check(0)
    counts = Counter[tuple[str, str]]()
    printed = re.findall(r"^(\S+) (\S+) \+(\d+) failed \+0$", ran.err, re.MULTILINE)
    for program, step, n in printed:
        counts[program, step] += int(n)
    assert ran.counts["lookup", "lookup"] > 100
    assert {key: counts[key] for key in ran.counts} == ran.counts


# The time of starting users belongs to the warm-up: the window begins after the last start.

SLOW = """
from ils_bench.locustfile import *
from locust import events

def slow(environment, **_):
    # One user every two seconds, so that a late drain still precedes the last start.
    environment.parsed_options.spawn_rate = 0.5

events.init.add_listener(slow)
"""


def test_ramp_is_stored_and_not_measured(counting: Counting, tmp_path: Path) -> None:
    # Answers take 20 ms, because lanes at full speed would keep both cores busy.
    with (
        relayed(counting.directory.port, delaying(lambda _: 0.02)) as port,
        RunStore(tmp_path / "run") as store,
    ):
        window: dict[str, Any] = {"users": 4, "warmup": 0.4, "measure": 1.0}
        where = f"ldap://127.0.0.1:{port}"
        options = IlsOptions(entries=PEOPLE, target=where, locales=LOCALES, **window)
        address = DirectoryAddress("127.0.0.1", port)
        target = OpenDirectory("ours", address, options.base)
        (tmp_path / "slow.py").write_text(SLOW)
        test = replace(POINTS.test(options, "lookup").at(target), locustfile=tmp_path / "slow.py")
        with Runner() as runner:
            result = runner.run(test, store)
        store.confirm(test.spec)
    with RunFile(tmp_path / "run") as run:
        (found,) = run.points()
        rows = run.timeline(found.id)
        (lookup,) = [step for step in run.steps(found.id) if step.step == "lookup"]
    phases = ("ramp", "warmup", "measure")
    lanes = {phase: [row.lanes for row in rows if row.phase == phase] for phase in phases}
    assert lanes["ramp"][0] < 4
    assert sum(row.count for row in rows if row.phase == "ramp") > 0
    assert set(lanes["warmup"]) == set(lanes["measure"]) == {4}
    measured = sum(r.count for r in rows if r.phase == "measure" and r.step == "lookup")
    assert lookup.clocks["latency"].count == measured
    # The rate counts operations that ended in the window, and a lane may have one under way at each
    # edge.
    assert result.operations == pytest.approx(measured, abs=4)
    assert result.little is not None
    assert result.little.lanes == 4.0
