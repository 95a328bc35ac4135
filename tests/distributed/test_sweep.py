"""`--workers N` on the command line: workers that stay, that are lost, and that never join."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.runs.runfile import RunFile
from sitebench.system.child import lives
from sitebench.system.network import free_port
from tests.distributed.masters import ROOT, Worker, waited_for, worker
from tests.distributed.network import Network, network
from tests.support.aftermath import Ground
from tests.support.cli import in_process
from tests.support.programs import required_program, run_program
from tests.support.waiting import left_s

PEOPLE = ("--locales", "en_US", "--users", "8", "--threads", "1")
LOOKUP = ("ils", "run", "lookup", "--entries", "500", *PEOPLE)
LATER_S = 5_000
"""The offset of one worker's monotonic clock, because machines boot at different times."""


Hosts = tuple[Network, list[Worker], str]
"""A network, its workers, and the address of their master."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Two workers on separate hosts, one of which has another clock."""
    folder = tmp_path_factory.mktemp("ground")
    unshare = str(required_program("unshare"))
    clock = (unshare, "--time", "--monotonic", str(LATER_S), "--fork", "--kill-child")
    with network(2) as net, contextlib.ExitStack() as stack:
        where = f"{net.address}:{free_port()}"
        here = stack.enter_context(worker(folder, where, net.hosts[0]))
        later = stack.enter_context(worker(folder, where, net.hosts[1], before=clock))
        yield net, [here, later], where
    assert not list(folder.glob("sitebench-*")), "workers left temporary folders"


def measuring(ground: Ground) -> bool:
    """Return whether a point is well within its measured window: at least three drains exist."""
    rows = (row for row in ground.timeline() if row.phase == "measure")
    return len({row.t_ns for row in rows if row.count}) >= 3


def test_sweep_continues_after_the_loss_of_a_worker(hosts: Hosts, tmp_path: Path) -> None:
    net, workers, where = hosts
    here = Ground(tmp_path)
    argv = [
        *("ils", "sweep", "--sizes", "500", "--operations", "lookup,connect", *PEOPLE),
        *("--workers", "2", "--bind", where, "--target-host", net.address),
        *("--think", "10ms", "--warmup", "200ms", "--measure", "4s"),
        *("--out", str(here.run), "--json"),
    ]
    with here.started(*argv) as sweep:
        waited_for(lambda: measuring(here) or sweep.poll() is not None, "nothing was measured")
        killed = workers[0].locust()
        assert killed is not None
        killed.kill()
        said, wrong = sweep.communicate(timeout=left_s())
    assert sweep.returncode == 0, wrong
    first, second = (json.loads(line) for line in said.splitlines())
    assert not first["valid"]
    (lost,) = (each for each in first["workers"] if each["ended"])
    address = net.hosts[0].address
    assert (lost["ended"], lost["address"], lost["pid"]) == ("lost", address, killed.pid)
    assert f"worker {lost['index']} (" in first["evidence"]
    (warning,) = (each for each in first["warnings"] if each["kind"] == "worker-lost")
    assert address in warning["message"]
    assert lost["operations"] > 0
    # Restarted by its supervisor, the worker took part in the next point.
    assert [each["ended"] for each in second["workers"]] == [None, None]
    assert second["operations"] > 0
    # All times of a timeline are by the master's clock, in ascending order.
    now, instants = time.monotonic_ns(), [row.t_ns for row in here.timeline()]
    assert instants == sorted(instants)
    assert now - 600e9 < instants[0] < instants[-1] < now
    # Run file, terminal and report name the lost worker and mark its point.
    with RunFile(here.run) as run:
        results = [point.result for point in run.points() if point.result is not None]
    (flagged,) = (r for r in results if any(each.ended == "lost" for each in r.workers))
    assert not flagged.verdict.valid
    assert address in flagged.verdict.evidence
    page, printing = here.folder / "page.html", [word for word in argv if word != "--json"]
    again = in_process(*printing, XDG_STATE_HOME=here.environment["XDG_STATE_HOME"]).check(0)
    in_process("report", here.run, "--out", page).check(0)
    for text in (" ".join(again.out.split()), page.read_text()):
        assert address in text
        assert "was lost after" in text
    here.assert_clean()
    assert not killed.is_running()


def test_missing_worker_is_an_error(hosts: Hosts) -> None:
    net, _, where = hosts
    argv = (*LOOKUP, "--workers", "3", "--bind", where, "--workers-wait", "2s")
    ran = in_process(*argv, "--target-host", net.address).check(1)
    (message, remedy) = ran.err.strip().splitlines()[-2:]
    assert "of 3 workers connected" in message
    assert f"sitebench worker --master {where}" in remedy


def test_target_unreachable_for_workers_is_named(hosts: Hosts) -> None:
    *_, where = hosts
    argv = (*LOOKUP, "--workers", "2", "--bind", where)
    in_process(*argv).check(2, "worker", "127.0.0.1 of the master's machine", "--target-host")


def test_missing_password_on_a_worker_is_reported(hosts: Hosts, tmp_path: Path) -> None:
    net, _, where = hosts
    admin, password = "cn=admin,o=Intranet", "kept-here"
    (tmp_path / "secret").write_text(f"{password}\n")
    argv = (*LOOKUP, "--workers", "2", "--bind", where)
    login = ("--bind-dn", admin, "--password-file", "secret")
    with LdapDirectory(
        500, locales=("en_US",), host=net.address, admin_dn=admin, admin_password=password
    ) as directory:
        ran = in_process(*argv, *login, "--target", directory.url, cwd=tmp_path).check(2)
    (said,) = [line for line in ran.err.splitlines() if "password file" in line]
    assert "worker " in said
    assert "secret" in said
    assert password not in ran.err


def test_workers_are_groups_of_one_session_and_end_with_one_line(tmp_path: Path) -> None:
    """Linux divides cores by session: with a session each, two workers had twice the share."""
    with worker(tmp_path, f"127.0.0.1:{free_port()}", None, "--processes", "2") as one:
        family = psutil.Process(one.process.pid)
        waited_for(lambda: len(family.children(recursive=True)) == 2, "no Locust was started")
        workers = family.children(recursive=True)
        assert {os.getsid(each.pid) for each in workers} == {os.getsid(one.process.pid)}
        assert all(os.getpgid(each.pid) == each.pid for each in workers)
        said = one.end()
    assert len(said.splitlines()) == 2, said
    assert not any(each.is_running() for each in workers)


def test_worker_has_the_options_of_its_command_and_ends_with_it(tmp_path: Path) -> None:
    """test_exact.py tests the effect of the options."""
    chosen = ("--client", "ldap3", "--threads", "3")
    with worker(tmp_path, f"127.0.0.1:{free_port()}", None, *chosen) as one:
        waited_for(lambda: one.locust() is not None, "no Locust was started")
        locust = one.locust()
        assert locust is not None
        env = locust.environ()
        assert (env["SITEBENCH_CLIENT"], env["SITEBENCH_THREADS"]) == ("ldap3", "3")
        one.process.kill()
        one.process.communicate()
        waited_for(lambda: not lives(locust.pid), "its Locust still runs")


# A run time that ends before a master has prepared its target.

# Prepares until Locust has told its workers to end, and therefore has enough time.
PREPARES_TOO_LONG = """
import gevent
from ils_bench.locustfile import LookupUser
from ils_bench.suite_run import IlsRun

prepare = IlsRun.prepare

def slowly(self, environment, *others):
    prepared = prepare(self, environment, *others)
    while environment.runner.clients:
        gevent.sleep(0.001)
    return prepared

IlsRun.prepare = slowly
"""


def test_workers_that_end_before_their_master_are_not_lost(tmp_path: Path) -> None:
    """Locust tells its workers to end, and itself continues for half a second."""
    (tmp_path / "lf.py").write_text(PREPARES_TOO_LONG)
    port = str(free_port())
    with worker(tmp_path, f"127.0.0.1:{port}", None):
        ran = run_program(
            [
                *(sys.executable, "-m", "locust", "-f", "lf.py", "--master", "--headless"),
                *("--master-bind-port", port, "--expect-workers", "1", "-t", "2s"),
                *("--entries", "10", "--locales", "en_US", "--loglevel", "WARNING"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert "was lost" not in ran.stderr, ran.stderr
    (line,) = [line for line in ran.stderr.splitlines() if "sitebench" in line]
    assert line.endswith("give the test more time: -t counts from the start")
    assert ran.returncode == 1
