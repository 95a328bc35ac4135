"""Locust's totals compared with the directory's own counters, exactly."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.point_process import Runner
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.locustfiles.conftest import LOCALES, PEOPLE, Counting, agrees, headless, processes
from tests.support.relay import delaying, relayed

USERS = ("-u", "8", "-r", "8")
LOOKUPS = ("searches",)


def test_every_operation_of_every_class_is_counted_once(tmp_path: Path, counting: Counting) -> None:
    each = ("binds", "searches", "adds", "modifies", "deletes")
    ran = headless(tmp_path, counting, "-u", "12", "-r", "12", interrupt_after=each).check(0)
    counts = Counter[str]()
    for (program, _), count in ran.counts.items():
        counts[program] += count
    assert set(counts) == {"connect", "add", "lookup", "retrieve", "ils-user", "register"}
    del counts["ils-user"]  # It thinks for minutes.
    assert min(counts.values()) > 100, ran.err
    assert not any(ran.failures.values())
    agrees(ran, counting)


def test_workers_lose_no_operation_and_add_different_people(
    tmp_path: Path, counting: Counting
) -> None:
    classes, each = ("LookupUser", "AddUser"), ("searches", "adds")
    ran = headless(tmp_path, counting, *USERS, *processes(2), *classes, interrupt_after=each)
    ran.check(0)
    assert {("lookup", "lookup"), ("add", "add")} <= ran.counts.keys(), ran.err
    assert ran.counts["lookup", "lookup"] > 100
    assert ran.counts["add", "add"] > 100
    assert not any(ran.failures.values())
    agrees(ran, counting)


def test_worker_that_ends_late_leaves_the_masters_totals(
    tmp_path: Path, counting: Counting
) -> None:
    """Locust's workers have the master's `--json-file` if they are forked, and nothing to say."""
    late = tmp_path / "late.py"
    late.write_text(
        "import time\n"
        "from ils_bench.locustfile import LookupUser\n"
        "from locust import events\n"
        "from locust.runners import WorkerRunner\n"
        "@events.init.add_listener\n"
        "def listen(environment, runner, **_):\n"
        "    if isinstance(runner, WorkerRunner):\n"
        "        environment.events.quitting.add_listener(lambda **_: time.sleep(1))\n"
    )
    window = ("--rate", "200", "--warmup", "0s", "--measure", "1s")
    ran = headless(tmp_path, counting, *USERS, *processes(2), *window, locustfile=late)
    agrees(ran, counting)


def test_workers_stop_at_the_end_of_the_measured_window(tmp_path: Path, counting: Counting) -> None:
    windows = ("--rate", "500", "--warmup", "500ms", "--measure", "1s")
    ran = headless(
        tmp_path, counting, "-u", "4", "-r", "4", *processes(2), *windows, "LookupUser"
    ).check(0)
    assert ran.counts["lookup", "lookup"] > 100
    agrees(ran, counting)


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_either_client_increments_an_attribute_in_a_sequence(
    tmp_path: Path, counting: Counting, client: str
) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from ils_bench.sequences import Add, Bind, Change, Connect, Modify, Sequence\n"
        "from ils_bench.users import SequenceUser\n"
        "class CountingUser(SequenceUser):\n"
        "    sequence = Sequence('counting', (Connect(), Bind(), Add(),\n"
        "        Modify((Change('increment', 'sFlags', ('1',)),), 'new')), counts='modify')\n"
    )
    users = ("-u", "1", "--client", client)
    ran = headless(tmp_path, counting, *users, locustfile=own, interrupt_after=("modifies",))
    assert ran.counts["counting", "modify"] > 0, ran.err
    assert not any(ran.failures.values()), ran.err


def test_user_defined_class_is_recorded_under_its_sequence(
    tmp_path: Path, counting: Counting
) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from ils_bench.sequences import Bind, Connect, Sequence, Unbind\n"
        "from ils_bench.users import SequenceUser\n"
        "class LookupUser(SequenceUser):\n"
        "    sequence = Sequence('binding', (Connect(), Bind(), Unbind()), counts='bind')\n"
    )
    record = ("--measure", "1s", "--warmup", "0s", "--out", "run.sitebench")
    ran = headless(tmp_path, counting, "-u", "2", "-r", "2", "-t", "3s", *record, locustfile=own)
    with RunFile(tmp_path / "run.sitebench") as run:
        assert [point.spec.operation for point in run.points()] == ["binding"], ran.err


def test_counts_are_exact_while_users_start_and_stop(tmp_path: Path, counting: Counting) -> None:
    shaped = tmp_path / "shaped.py"
    shaped.write_text(
        "from locust import LoadTestShape\n"
        "from ils_bench.locustfile import LookupUser\n"
        "class Steps(LoadTestShape):\n"
        "    def tick(self):\n"
        "        t = self.get_run_time()\n"
        "        return (6, 6) if t < 1.5 else (2, 6) if t < 3 else None\n"
    )
    ran = headless(tmp_path, counting, "--rate", "200", locustfile=shaped).check(0)
    agrees(ran, counting)


def test_native_threads_cause_no_cpu_warning_of_locust(tmp_path: Path, counting: Counting) -> None:
    """Locust checks its CPU every 10 s, and warns from 90 % on."""
    busy = tmp_path / "busy.py"
    busy.write_text(
        "import locust.runners, psutil\n"
        "from locust import events\n"
        "from ils_bench.locustfile import LookupUser\n"
        "locust.runners.CPU_MONITOR_INTERVAL = 0.5\n"
        "def seem(**_):\n"
        "    psutil.Process.cpu_percent = lambda self: 180.0\n"
        "events.spawning_complete.add_listener(seem)\n"
        "def seen(environment, cpu_usage, **_):\n"
        "    print('seen', cpu_usage)\n"
        "    if cpu_usage == 180.0:\n"
        "        environment.runner.quit()\n"
        "events.usage_monitor.add_listener(seen)\n"
    )
    load = ("-u", "4", "-r", "4", "--threads", "1", "--rate", "200")
    ran = headless(tmp_path, counting, *load, locustfile=busy).check(0, "seen 180.0")
    assert "CPU usage" not in ran.err


ROOT = Path(__file__).parents[2]
OWN_SEQUENCE = ROOT / "examples" / "own_sequence.py"


def test_locustfile_with_a_user_defined_sequence_has_under_20_lines(
    tmp_path: Path, counting: Counting
) -> None:
    assert len(OWN_SEQUENCE.read_text().splitlines()) < 20
    ran = headless(
        tmp_path, counting, *USERS, locustfile=OWN_SEQUENCE, interrupt_after=LOOKUPS
    ).check(0)
    assert ran.counts["prefix", "search"] > 100
    assert not any(ran.failures.values())


OWN_LISTENER = ROOT / "examples" / "own_listener.py"


@pytest.mark.parametrize("distributed", [False, True])
def test_request_listener_gets_all_counts(
    tmp_path: Path, counting: Counting, distributed: bool
) -> None:
    more = processes(2) if distributed else ()
    load = (*USERS, "--rate", "2k", "--warmup", "0s", "--measure", "1s")
    ran = headless(tmp_path, counting, *load, *more, locustfile=OWN_LISTENER).check(0)
    told: Counter[tuple[str, str]] = Counter()
    said = re.findall(r"^(\S+) (\S+) \+(\d+) failed \+0$", ran.err, re.MULTILINE)
    for program, step, n in said:
        told[program, step] += int(n)
    assert ran.counts["lookup", "lookup"] > 100
    assert {key: told[key] for key in ran.counts} == ran.counts


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
        options = IlsOptions(
            entries=PEOPLE,
            target=f"ldap://127.0.0.1:{port}",
            locales=LOCALES,
            users=4,
            warmup=0.4,
            measure=1.0,
        )
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
