"""Directories of the user: filled as far as needed, restored afterwards, also after a crash."""

import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets import clean, journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.clean import CHUNK
from ils_bench.targets.probe import connect
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Directory, seed_directory
from sitebench.measure import point_process
from sitebench.runs.store import RunStore
from sitebench.seeders.people import Spec, generate
from sitebench.targets.ownership import FLAG
from tests.support.children import children
from tests.support.cli import SITEBENCH, Ran, in_process
from tests.support.killing import killed
from tests.support.relay import relayed
from tests.support.waiting import eventually, left_s

LOCALES = ("--locales", "en_US,de_DE,ja_JP")
SHORT = ("--users", "4", "--rate", "200", "--warmup", "100ms", "--measure", "600ms", "--json")
BASE_AND_SUFFIX = 2


@dataclass
class Live:
    """A directory that sitebench did not start."""

    directory: Directory

    @property
    def url(self) -> str:
        return f"ldap://{self.directory.address}"

    @property
    def people(self) -> int:
        """Its number of entries without base and suffix."""
        return self.directory.stats()["entries"] - BASE_AND_SUFFIX

    def ils(self, *argv: str) -> Ran:
        """Run a command of the directory suite against it, as a directory of the user's own."""
        return in_process("ils", *argv, "--target", self.url, FLAG, *LOCALES)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """An empty directory that contains the base."""
    ldif = tmp_path / "base.ldif"
    ldif.write_text(
        "dn: o=Intranet\nobjectClass: organization\no: Intranet\n\n"
        "dn: ou=Dynamic,o=Intranet\nobjectClass: organizationalUnit\nou: Dynamic\n"
    )
    config = {"host": "127.0.0.1", "port": 0, "suffix": "o=Intranet", "ldif": str(ldif)}
    directory = Directory(json.dumps(config))
    yield Live(directory)
    directory.stop()
    assert not list(journal.entries())


@pytest.fixture
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate temporary folder for remains of a killed command."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize("operation", ["lookup", "add", "register"])
def test_run_leaves_the_directory_unchanged(live: Live, operation: str) -> None:
    point = live.ils("run", operation, "--entries", "300", *SHORT).point
    assert (point["failures"], point["ops_per_s"] > 0) == (0, True)
    assert live.people == 0


def test_removal_sends_about_one_request_per_person(live: Live) -> None:
    load = ("--users", "4", "--threads", "2", "--rate", "1500", "--warmup", "0s", "--measure", "2s")
    assert live.ils("seed", "--entries", "1").code == 0
    before = live.directory.stats()
    ran = live.ils("run", "add", "--entries", "1", *load).check(0)
    done = {name: n - before[name] for name, n in live.directory.stats().items()}
    assert done["entries"] == 0
    # Both threads took up to 256 keys that they did not use; and as many are searched behind the
    # last person.
    assert done["adds"] > 1_000
    in_vain = 2 * 2 * clean.KEYS_OF_A_THREAD
    assert done["deletes"] + done["searches"] < 1.1 * done["adds"] + in_vain
    assert f"removed {done['adds']:,} people of this run from {live.url}" in ran.err.splitlines()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("crashed", [False, True])
def test_people_left_by_interrupted_registrations_are_removed(
    live: Live, crashed: bool, own_temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Almost all people have unregistered; the others are behind a long empty range."""
    # More than both threads can have taken and not yet added.
    monkeypatch.setattr(clean, "CHUNK", chunk := 4 * clean.KEYS_OF_A_THREAD)
    load = ("--users", "4", "--threads", "2", "--warmup", "0s", "--measure", "10m")
    options = (*load, "--entries", "300", *LOCALES)
    argv = ["ils", "run", "register", "--target", live.url, *options]
    with subprocess.Popen([*SITEBENCH, *argv], stderr=subprocess.DEVNULL) as process:
        assert eventually(lambda: live.directory.stats()["adds"] > 4 * chunk)
        if crashed:
            killed(process)
        else:
            process.send_signal(signal.SIGINT)
            process.wait(left_s())
    if crashed:
        assert eventually(lambda: all(each.is_abandoned for each in journal.entries()))
        assert in_process("ils", "clean").code == 0
        # The killed run could not remove its own run file; the next measurement does.
        (left,) = own_temporary.iterdir()
        monkeypatch.setattr(tempfile, "tempdir", None)
        live.ils("run", "lookup", "--entries", "10", *SHORT).check(0)
        assert not left.exists()
    assert live.people == 0


@pytest.mark.parametrize("first", [0, journal.FIRST_ADDED])
@pytest.mark.parametrize("chunks", [1, 2])
def test_interrupted_removal_is_resumed(live: Live, first: int, chunks: int) -> None:
    stop = first + 3 * CHUNK
    spec = Spec(stop, locales=("en_US",))
    population = generate(spec).population
    target = OpenDirectory("live", parse_address(live.url), spec.base)
    seed_directory(target.to_engine(), population, first, stop)
    made = journal.reserve(str(target.address), spec, bind_dn=None, keys=3 * CHUNK, first=first)
    told: list[int] = []

    def interrupt(removed: int) -> None:
        told.append(removed)
        if removed >= chunks * CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clean.remove(made, target, interrupt)
    assert live.people == 3 * CHUNK - told[-1] > 0
    (left,) = journal.entries()
    assert clean.remove(left, target) == 3 * CHUNK - told[-1]
    assert live.people == 0


@pytest.mark.parametrize("gone", [0, 120])
def test_people_of_earlier_runs_behind_a_gap_are_not_removed(live: Live, gone: int) -> None:
    assert live.ils("seed", "--entries", "200").code == 0
    population = generate(Spec(200, locales=tuple(LOCALES[1].split(",")))).population
    with connect(parse_address(live.url)) as connection:
        assert connection.delete(population.dn(gone))
    live.ils("run", "lookup", "--entries", "200", *SHORT).check(
        2, "but not all people before and behind it", "sitebench ils seed"
    )
    assert live.people == 199
    # Missing people are added, and removed again.
    assert live.ils("seed", "--entries", "200").code == 0
    for operation in ("lookup", "add"):
        assert live.ils("run", operation, "--entries", "300", *SHORT).code == 0
        assert live.people == 200


def test_seeding_adds_the_missing_base(live: Live) -> None:
    base = ("--base", "ou=people,ou=new,o=Intranet")
    assert live.ils("seed", "--entries", "10", *base).code == 0
    assert live.people == 10 + 2
    live.ils("run", "lookup", "--entries", "10", *base, *SHORT).check(0)
    emptied = ("ils", "clean", "--seeded", "--target", f"{live.url}/{base[1]}", "--entries", "10")
    assert in_process(*emptied, *LOCALES).code == 0
    assert live.people == 2


def test_ctrl_c_while_people_are_added_removes_them(live: Live) -> None:
    argv = ["ils", "run", "lookup", "--target", live.url, "--entries", "200k", FLAG, *LOCALES]
    with subprocess.Popen([*SITEBENCH, *argv], stderr=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: live.people >= 2_000)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=left_s())
    assert process.returncode == 130
    assert live.people == 0
    assert re.search(
        rf"^removed [0-9,]+ people of this run from {live.url}$", messages, re.MULTILINE
    )


REMOVED = bytes((0x6B, 7, 0x0A, 1, 0))
"""A successful DelResponse (RFC 4511 section 4.8)."""


@dataclass
class Slow:
    """A relay that holds back the answer to a Delete until it is released."""

    removing: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, piece: bytes, client: socket.socket) -> None:
        """Forward a piece of an answer to a client."""
        if REMOVED in piece:
            self.removing.set()
            self.go_on.wait(60)
        client.sendall(piece)


def test_removal_of_people_waits_until_locust_has_ended(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, owed = Slow(), list[str | None]()
    with relayed(live.directory.port, slow) as port, RunStore(tmp_path / "run") as store:
        where = {"target": f"ldap://127.0.0.1:{port}", "entries": 1, "locales": ("en_US",)}
        options = IlsOptions(**where, users=2, warmup=0.1, measure=0.5)  # type: ignore[arg-type]
        target = OpenDirectory("slow", parse_address(options.target), options.base)
        test = POINTS.test(options, "add").at(target)
        pending_cleanup = OpenDirectory.pending_cleanup

        def owing(self: OpenDirectory, pid: int) -> str | None:
            owed.append(pending_cleanup(self, pid))
            if len(owed) == 4:
                slow.go_on.set()
            # Locust also needs a moment to end.
            return owed[-1] or owed[0]

        def watch(elapsed_s: float) -> None:
            if store.latest(test.spec.key) is not None:
                # The point is running: from now on longer waits are given up.
                monkeypatch.setattr(point_process, "GRACE_S", point_process.POLL_S / 2)

        monkeypatch.setattr(OpenDirectory, "pending_cleanup", owing)
        with point_process.Runner() as runner:
            result = runner.run(test, store, watch)
    assert result.failures == 0
    assert owed[:4] == [f"removing the people that were added to {options.target}"] * 4
    assert live.people == 0


# test_second_ctrl_c_ends_slow_removal_of_people
HURRIED = """
import sys
from sitebench.cli.main import main
from sitebench.measure import point_process
point_process.GRACE_S, point_process.CLEANUP_NOTICE_S = float(sys.argv.pop(1)), 0.5
main()
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("measure", "grace", "again"),
    [("10m", "0.4", False), ("10m", "0.4", True), ("500ms", "60", False)],
    ids=["while it measures", "twice", "while it removes"],
)
def test_second_ctrl_c_ends_slow_removal(live: Live, measure: str, grace: str, again: bool) -> None:
    slow = Slow()
    with relayed(live.directory.port, slow) as port:
        url = f"ldap://127.0.0.1:{port}"
        argv = ["ils", "run", "add", "--target", url, "--entries", "1", "--locales", "en_US"]
        argv += ["--users", "2", "--warmup", "0s", "--measure", measure]
        # With fewer people than one batch of removals, the second Ctrl-C would leave none.
        argv += ["--rate", "2000" if measure == "10m" else "200"]
        with subprocess.Popen(
            [sys.executable, "-c", HURRIED, grace, *argv], stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            if measure == "10m":
                assert eventually(lambda: live.directory.stats()["adds"] > 1_000)
            else:
                assert slow.removing.wait(left_s())
            [load] = children(process.pid, "sitebench.locust.runner")
            process.send_signal(signal.SIGINT)
            said = iter(process.stderr.readline, "")
            waiting = f"removing the people that were added to {url}; Ctrl-C now leaves"
            assert any(line.startswith(waiting) for line in said)
            if again:
                process.send_signal(signal.SIGINT)
                assert eventually(lambda: not load.is_running())
            slow.go_on.set()
            assert process.wait(left_s()) == 130
            left = f"{url} still holds people of this run: `sitebench ils clean` removes them\n"
            messages = [*said]
            assert (left in messages) == again
            removed = rf"removed [0-9,]+ people of this run from {url}\n"
            assert any(re.fullmatch(removed, line) for line in messages) != again
        if again:
            assert live.people > 0
            assert in_process("ils", "clean").code == 0
    assert live.people == 0


def test_sweep_grows_and_shrinks_a_slapd_to_its_sizes(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "sweep", "--target", str(openldap.address), "--sizes", "350,400"),
        *("--operations", "lookup,add", "--out", "run", *LOCALES, *SHORT),
        cwd=journal.folder().parents[2],
    ).check(0)
    points = [(point["entries"], point["failures"]) for point in ran.objects]
    assert sorted(points) == [(350, 0)] * 2 + [(400, 0)] * 2
    # 300 people existed, 50 and 100 were added for the sweep and removed again.
    in_process("ils", "verify", f"{openldap.address}", "--entries", "300", *LOCALES).check(
        0, "all 300 people verified"
    )
    assert not list(journal.entries())


def test_slapd_of_the_user_on_this_machine_is_monitored(openldap: OpenDirectory) -> None:
    assert openldap.pid is not None
    point = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address), "--entries", "300"),
        *(*LOCALES, *SHORT),
    ).point
    used = sum(psutil.Process(openldap.pid).cpu_times()[:2])
    assert 0 < point["target"]["cpu_s"] <= used
    unknown = {each["resource"] for each in point["bottlenecks"] if each["grade"] == "unknown"}
    assert unknown.isdisjoint({"cpu", "memory", "operating-system", "disk"})
    assert "unwatched" not in {each["kind"] for each in point["warnings"]}
