"""Every test of a web UI is a point of its run file, with the directory's own counts."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.system.network import free_port
from tests.locustfiles.conftest import LOCALES, PEOPLE, Counting, counting_directory
from tests.support.in_locust import in_locust
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import web_ui
from tests.support.workers import forked_workers
from tests.system.test_child import gone

pytestmark = pytest.mark.timeout(180)
PEOPLE_THERE = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))


@pytest.fixture(scope="module")
def counted() -> Iterator[Counting]:
    with counting_directory() as made:
        yield made


@pytest.fixture(scope="module")
def screen(counted: Counting, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """A web UI on a directory that counts; its run file has the points of all earlier tests."""
    folder = tmp_path_factory.mktemp("screen")
    target = ("--target", counted.url, *PEOPLE_THERE, "--out", str(folder / "kept"))
    with web_ui(folder, "ils", *target, XDG_STATE_HOME=str(folder / "state")) as (_, root):
        yield Screen(root)


def points(path: Path) -> list[StoredPoint]:
    with RunFile(path) as run:
        return run.points()


def recorded(path: Path, point: StoredPoint) -> Counter[tuple[str, str]]:
    """Return the counts of a point by step and phase."""
    found: Counter[tuple[str, str]] = Counter()
    with RunFile(path) as run:
        for row in run.timeline(point.id):
            found[row.step, row.phase] += row.count
    return found


def total(found: Counter[tuple[str, str]], step: str) -> int:
    return sum(count for (name, _), count in found.items() if name == step)


def test_two_tests_are_stored_as_two_points(
    screen: Screen, counted: Counting, tmp_path: Path
) -> None:
    before = counted.since()["adds"]
    for user_class, step in (("AddUser", "add"), ("ConnectUser", "connect")):
        screen.run(user_class, step, 100)
    copy = screen.download(tmp_path / "copy")
    *_, adds, connects = points(copy)
    assert [adds.status, connects.status] == ["done", "done"]
    assert [adds.spec.operation, connects.spec.operation] == ["add", "connect"]
    assert adds.spec.users == 4
    assert total(recorded(copy, adds), "add") == counted.since()["adds"] - before
    done = total(recorded(copy, connects), "connect")
    assert done == screen.totals()["connect"]
    assert connects.result is not None
    assert 0 < connects.result.operations <= done
    assert connects.result.use.target is None, "its process is not known"
    with RunFile(copy) as run:
        assert {row.who for row in run.samples(connects.id)} >= {"generator", "machine"}
        # A connection needs no people.
        assert run.manifest()["sizes"] == [0, PEOPLE]


def test_change_of_users_restarts_the_measured_window(screen: Screen, tmp_path: Path) -> None:
    screen.start("LookupUser", 8, rate="")
    screen.until_done("lookup", 1_000)
    screen.start("LookupUser", 5, rate="")
    screen.until_lanes(5)
    screen.until_done("lookup", 1_000)
    screen.stop()
    copy = screen.download(tmp_path / "copy")
    *_, point = points(copy)
    assert point.spec.users == 5
    found = recorded(copy, point)
    assert found["lookup", "ramp"] > 1_000
    assert point.result is not None
    # Rates count operations that ended in the window, the timeline operations that were due in it:
    # each lane may have one under way at each edge.
    assert found["lookup", "measure"] > 0
    assert abs(point.result.operations - found["lookup", "measure"]) <= 5
    assert point.result.little is not None
    assert point.result.little.lanes == pytest.approx(5, abs=0.5)
    with RunFile(copy) as run:
        steps = {each.step: each.count for each in run.steps(point.id, "ramp")}
    assert steps["lookup"] == found["lookup", "ramp"]


def test_identical_test_is_stored_as_a_repeat(screen: Screen, tmp_path: Path) -> None:
    for _ in range(2):
        screen.run("LookupUser", "lookup", 100, 3)
    found = points(screen.download(tmp_path / "copy"))
    assert [point.spec.repeat for point in found if point.spec.users == 3] == [0, 1]


def test_invalid_form_is_refused_with_a_message(screen: Screen, tmp_path: Path) -> None:
    before = len(screen.live()["tests"])
    screen.refuse("unknown size 'many'", "LookupUser", entries="many")
    screen.refuse("o=Nowhere", "LookupUser", base="o=Nowhere")
    screen.refuse("cannot be set by the page", "LookupUser", password_file="/etc/passwd")
    screen.start("LookupUser")
    screen.until_done("lookup", 1)
    screen.refuse("while a test runs", "LookupUser", entries="1k")
    screen.stop()
    assert len(points(screen.download(tmp_path / "copy"))) == before + 1


def test_dead_target_is_reported_and_its_point_is_discarded(tmp_path: Path) -> None:
    with web_ui(tmp_path, "ils", "--entries", "1k") as (process, root):
        screen = Screen(root)
        screen.start("LookupUser")
        screen.until_done("lookup", 100)
        (target,) = psutil.Process(process.pid).children()
        target.kill()
        assert gone(target.pid)
        screen.stop()
        (test,) = screen.live()["tests"]
        assert "ended during the measurement" in test["error"]
        (point,) = points(screen.download(tmp_path / "copy"))
        assert point.status == "failed"
        screen.run("LookupUser", "lookup", 100)
        assert [each["error"] is None for each in screen.live()["tests"]] == [False, True]


SESSION = """
import gc, json, tempfile, weakref
from pathlib import Path
import gevent
from sitebench.locust.web_ui.session import Session
from sitebench.locust.recorder import Subject
from tests.support.points import a_spec

session = Session(f"{tempfile.mkdtemp()}/ui.sitebench")
there = ("127.0.0.1", 1)
subject = Subject(a_spec(), lambda sizes: {}, None, None, there, [], True, lambda: None, {})
"""


def test_memory_of_the_previous_tests_windows_is_freed() -> None:
    found = in_locust(
        """
        windows = weakref.ref(session.recording(subject, None).windows)
        kept = [windows() is not None]
        session.recording(subject, None)
        gc.collect()
        kept.append(windows() is not None)
        print(json.dumps([kept, [each.spec.repeat for each in session.tests]]))
        session.close()
        """,
        SESSION,
    )
    assert found == [[True, False], [0, 1]]


def test_run_file_is_downloaded_during_a_test(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    turns = in_locust(
        f"""
        session.recording(subject, None)
        turns = []
        def turn():
            while True:
                turns.append(None)
                gevent.sleep(0.001)
        gevent.spawn(turn)
        session.snapshot(Path({str(copy)!r}))
        print(json.dumps(len(turns)))
        session.close()
        """,
        SESSION,
    )
    assert turns > 0
    assert len(points(copy)) == 1


def test_page_of_a_master_runs_tests_on_its_workers(tmp_path: Path) -> None:
    master = f"127.0.0.1:{free_port()}"
    asked = ("--workers", "2", "--bind", master, "--entries", "1k")
    # The master is started first: otherwise a worker could get its port and connect to itself.
    two = forked_workers(tmp_path, master, processes=2, threads=1)
    with web_ui(tmp_path, "ils", *asked) as (_, root), two:
        screen = Screen(root)
        assert eventually(lambda: screen.workers() == 2), "not: two workers came"
        # Late operations of a window's begin end within it: at this rate they are few.
        screen.start("LookupUser", 2, rate="100")
        screen.until_done("lookup", 300)
        screen.start("LookupUser", 4, rate="100")
        screen.until_lanes(4)
        screen.until_done("lookup", 300)
        screen.stop()
        copy, totals = screen.download(tmp_path / "copy"), screen.totals()
    (point,) = points(copy)
    found = recorded(copy, point)
    assert total(found, "lookup") == totals["lookup"]
    assert found["lookup", "ramp"] > 0
    assert point.spec.users == 4
    assert point.result is not None
    # Within the same tolerance for each worker's window.
    assert abs(point.result.operations - found["lookup", "measure"]) <= 8
    shares = [worker.operations for worker in point.result.workers]
    assert len(shares) == 2
    steps = sum(n for (_, phase), n in found.items() if phase == "measure")
    assert abs(sum(shares) - (steps - found["sequence", "measure"])) <= 8


def test_stopped_stages_keep_their_spans(screen: Screen, tmp_path: Path) -> None:
    screen.start("LookupUser", stages="1s:100,59s:100", rate="")
    assert eventually(lambda: screen.live()["moments"]["at_s"][-1:] > [2.0]), screen.live()
    screen.stop()
    *_, point = points(screen.download(tmp_path / "copy"))
    assert point.status == "done"
    assert point.result is not None
    (span,) = point.result.spans
    assert span.seconds == pytest.approx(point.result.seconds, abs=0.1)
    assert span.asked is not None
    assert point.result.operations == pytest.approx(span.asked, abs=5 * span.asked**0.5 + 60)


STAGED = {"stages": "1s:100,1s:100", "warmup": "0s", "measure": ""}


@pytest.mark.parametrize(
    ("stages", "more", "form"),
    [
        *((each, ("--stages", each), {}) for each in ("1s:100,1s:100", "1s:4 users,1s:2 users")),
        ("1s:100,1s:100", ("--measure", "9s", "--warmup", "1s"), STAGED),
    ],
)
def test_stages_of_command_line_or_form_apply_to_the_tests(
    stages: str, more: tuple[str, ...], form: dict[str, str], counted: Counting, tmp_path: Path
) -> None:
    """Options implied by stages were refused as if the user had set them."""
    target = ("--target", counted.url, *PEOPLE_THERE, "--out", "kept", *more)
    with web_ui(tmp_path, "ils", *target) as (_, root):
        screen = Screen(root)
        screen.start("LookupUser", 4, rate="", **form)
        screen.wait(lambda stats: stats["state"] == "stopped")
    (point,) = points(tmp_path / "kept")
    assert point.result is not None, point.error
    assert str(point.spec.stages) == stages
