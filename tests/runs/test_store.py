import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sitebench._engine import Histogram
from sitebench.errors import BadRunFile, CannotRecord
from sitebench.monitor.monitor import Monitor
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.cli import in_process
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec, a_tally
from tests.support.programs import run_program
from tests.support.runs import finish, write_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.sitebench"


def test_finished_point_and_manifest_are_present_after_reopening(path: Path) -> None:
    with RunStore(path) as store:
        store.set_manifest({"seed": 1997, "sizes": [1, 2]})
        finish(store)
    with RunStore(path, create=False) as store:
        assert store.manifest() == {"seed": 1997, "sizes": [1, 2]}
        assert store.result(a_spec()) == a_result()
        assert store.results() == [a_result()]


def test_second_writer_is_refused_with_the_process_of_the_first(path: Path) -> None:
    with RunStore(path) as store:
        finish(store)
        ran = in_process("ils", "run", "lookup", "--entries", "10", "--out", str(path)).check(2)
        assert ran.err == (
            f"sitebench: another command writes to {path} (process {os.getpid()})\n"
            "  wait until it has ended, or name another file with --out\n"
        )
        # A process that measures for the first writer is no second writer, and readers never wait.
        with RunStore(path, create=False, joins=True) as joined, RunFile(path) as read:
            assert joined.results() == read.results() == [a_result()]
    with RunStore(path) as store:
        assert store.results() == [a_result()]


def test_file_name_too_long_for_sqlite_is_named(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 200) / ("b" * 200) / ("c" * 200)
    folder.mkdir(parents=True)
    with pytest.raises(BadRunFile, match=r"has 6\d\d bytes with its folders, and SQLite takes 503"):
        RunStore(folder / "run")


def test_measured_point_is_not_done_before_its_confirmation(path: Path) -> None:
    spec = a_spec()
    with RunStore(path) as store:
        store.begin(spec)
        store.complete(store.point_id(spec.key), {"measure": a_tally()}, a_result())
        assert store.status(spec) == "measured"
        assert store.result(spec) is None
        assert store.result(spec, "measured") == a_result()
        store.confirm(spec)
        assert store.status(spec) == "done"


def test_reason_of_a_failed_point_is_stored_until_the_point_is_restarted(path: Path) -> None:
    spec, reason = a_spec(), {"kind": "TargetDied", "message": "it is gone", "remedy": "look"}
    with RunStore(path) as store:
        store.begin(spec)
        point = store.point_id(spec.key)
        store.append(point, "ramp", Drain(0, 10**9, (Step("lookup", "lookup", 3),)))
        store.fail(spec.key, reason)
        assert (store.failure(spec.key), store.status(spec)) == (reason, "failed")
        store.begin(spec)
        assert store.failure(spec.key) is None
        assert store.latest(spec.key) is None


def test_totals_store_histograms_exactly(path: Path) -> None:
    write_run(path)
    query = "SELECT value, histogram FROM steps WHERE metric = 'service'"
    count, encoded = sqlite3.connect(path).execute(query).fetchone()
    expected = histogram()
    expected.record(50_000, 20_000)
    assert (count, Histogram.from_bytes(encoded)) == (20_000, expected)


def test_run_can_be_read_live_by_another_connection(path: Path) -> None:
    with RunStore(path) as store, RunStore(path, joins=True) as reader:
        store.begin(a_spec())
        point = store.point_id(a_spec().key)
        store.append(point, "warmup", Drain(0, 10**9, (Step("lookup", "lookup", 700),)))
        store.append(point, "measure", Drain(10**9, 2 * 10**9, (Step("lookup", "lookup", 900),)))
        assert reader.latest(a_spec().key) == ("measure", "lookup", 900.0)
        cut = Drain(2 * 10**9, 2 * 10**9 + 54_000_000, (Step("lookup", "lookup", 1),))
        store.append(point, "measure", cut)
        assert reader.latest(a_spec().key) == ("measure", "lookup", 900.0)


def test_live_progress_shows_the_counted_step(path: Path) -> None:
    # A site's connects and requests are phases of its pages; a bind is a separate step.
    steps = [Step("pages", name, n) for name, n in (("connect", 9), ("page", 5), ("request", 9))]
    with RunStore(path) as store:
        store.begin(a_spec())
        store.count(a_spec().key, [("pages", "page")])
        store.append(store.point_id(a_spec().key), "measure", Drain(0, 10**9, steps))
        assert store.latest(a_spec().key) == ("measure", "page", 5.0)
        store.confirm(a_spec())
        assert store.manifest() == {}


def test_monitor_samples_are_stored_by_source(path: Path) -> None:
    with RunStore(path) as store:
        store.begin(a_spec())
        store.append_sample(store.point_id(a_spec().key), 5, Monitor(None).sample().rows())
    rows = sqlite3.connect(path).execute("SELECT DISTINCT who, what FROM samples").fetchall()
    assert ("generator", "cpu_s") in rows
    assert ("machine", "available_bytes") in rows
    assert not [row for row in rows if row[0] == "target"]


def test_missing_run_file_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRunFile, match="no run file at"):
        RunStore(tmp_path / "absent", create=False)
    with pytest.raises(BadRunFile, match="cannot open run file"):
        RunStore(tmp_path / "absent" / "run")


def test_file_of_another_program_is_refused_and_unchanged(path: Path, tmp_path: Path) -> None:
    text, database = tmp_path / "text", tmp_path / "database"
    text.write_bytes(b"operations,per,second\n" * 100)
    sqlite3.connect(database).execute("CREATE TABLE theirs (x)").connection.close()
    write_run(path)
    path.write_bytes(path.read_bytes()[:5000])
    for file, said in (
        (text, "is not a run file of sitebench"),
        (database, "is a database of another program"),
        (path, "is damaged"),
    ):
        before = file.read_bytes()
        with pytest.raises(BadRunFile, match=said):
            RunStore(file).results()
        assert file.read_bytes() == before


ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from sitebench.runs.store import RunStore
from tests.support.runs import finish
store = RunStore(sys.argv[1])
for n in range(1, 10_000):
    finish(store, n)
    print(n, flush=True)
"""


def test_killed_writer_leaves_every_finished_point_in_the_file(path: Path) -> None:
    argv = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"1\n"
        time.sleep(0.3)
        writer.send_signal(signal.SIGKILL)
        finished = 1 + writer.stdout.read().count(b"\n")
    with RunStore(path, create=False) as store:
        # The last point may have been finished without a message.
        assert len(store.results()) in (finished, finished + 1)
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_leftover_worker_of_a_killed_sweep_cannot_write_to_the_next_attempt(path: Path) -> None:
    spec = a_spec()
    drain = Drain(0, 10**9, (Step("lookup", "lookup", 3),))
    with (
        RunStore(path) as sweep,
        RunStore(path, joins=True) as left,
        RunStore(path, joins=True) as measuring,
    ):
        sweep.begin(spec)
        point = left.join(spec.key)
        left.append(point, "ramp", drain)
        sweep.begin(spec)
        measuring.join(spec.key)
        with pytest.raises(CannotRecord, match="another sweep measures this point"):
            left.append(point, "ramp", drain)
        with pytest.raises(CannotRecord):
            left.complete(point, {"measure": a_tally()}, a_result())
        left.fail(spec.key, {"kind": "PointFailed", "message": "m", "remedy": "r"})
        assert sweep.status(spec) == "running"
        measuring.append(point, "ramp", drain)
        measuring.complete(point, {"measure": a_tally()}, a_result())
    with RunFile(path) as run:
        assert [row.count for row in run.timeline(point)] == [3]


NARROW = """
import resource, signal, sys
from sitebench.errors import SitebenchError
from sitebench.runs.store import RunStore
from tests.support.runs import finish
store = RunStore(sys.argv[1])
finish(store, 1)
# For SQLite, a file that cannot grow is a full disk.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    for n in range(2, 10_000):
        finish(store, n)
        print(n, flush=True)
except SitebenchError as error:
    print(error)
"""


def test_full_disk_is_a_one_line_error_and_loses_no_point(path: Path) -> None:
    ran = run_program([sys.executable, "-c", NARROW, path], cwd=ROOT, check=True)
    *finished, said = ran.stdout.splitlines()
    assert said.startswith(f"cannot write run file {path}: ")
    assert "the same command again" in said
    with RunFile(path) as run:
        assert len(run.results()) == len(finished) + 1
    with RunStore(path) as store:
        finish(store, 20_000)
        assert len(store.results()) == len(finished) + 2


READER = """
import os, sys
from sitebench.errors import SitebenchError
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
if os.getuid() == 0:
    os.setuid(65534)  # To root no file is read-only.
with RunFile(sys.argv[1]) as run:
    print(len(run.results()))
try:
    RunStore(sys.argv[1])
except SitebenchError as error:
    print(error.exit_code, error)
"""


def test_read_only_run_file_is_readable_but_not_resumed() -> None:
    # Not below pytest's folder, which other users may not enter.
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        path = write_run(folder / "run.sitebench")
        before = path.read_bytes()
        path.chmod(0o444)
        folder.chmod(0o555)
        ran = run_program([sys.executable, "-c", READER, path], cwd=ROOT)
        folder.chmod(0o755)
        assert ran.stdout.splitlines()[0] == "1", ran.stderr
        assert ran.stdout.splitlines()[1].startswith(f"2 cannot write run file {path}: ")
        assert path.read_bytes() == before
        assert [each.name for each in folder.iterdir()] == [path.name]
