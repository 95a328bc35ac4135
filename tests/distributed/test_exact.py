"""Three workers with separate addresses: their totals equal the directory's exactly.

Two workers are native; one uses ldap3 for directories, and is native for sites. Each run is
compared four ways: the lanes' counts in the workers, the run file, Locust's statistics, and the
counts of the directory or site itself.
"""

import contextlib
import json
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitebench._engine import Directory, Site
from sitebench.counts.source import SEQUENCE
from sitebench.runs.runfile import RunFile
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.upd import UpdSpec, build
from sitebench.system.network import free_port
from sitebench.targets.ownership import FLAG
from tests.distributed.masters import PORT, Master, master, waited_for
from tests.distributed.network import Host, Network, network
from tests.distributed.witness import FOLDER, seen, seen_by_process
from tests.support.workers import Workers, forked_workers

PEOPLE = 200
LOCALES = ("en_US",)
ENOUGH = 200
LOOKS = 3
"""Searches by sitebench: for the base, the root DSE, and cn=Monitor, which is missing."""
OF_THE_PAGE = 2
"""Additional searches of the web UI, which checks the directory before a test begins.

After the measurement the web UI binds again, to check that the directory still answers.
"""
POPULATION = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
HEADLESS = ("--headless", "--expect-workers", "3", "-u", "8", "-r", "100")


@dataclass
class Ground:
    """A network, and its workers."""

    net: Network
    workers: list[Workers]
    folder: Path

    def saw(self) -> Counter[str]:
        return sum(seen(self.folder), Counter())

    def all_made_load(self) -> bool:
        files = [json.loads(path.read_text()) for path in self.folder.glob("*.json")]
        return sum(any(each.values()) for each in files) >= 3

    def drained_by(self, pid: int) -> str:
        """Return the first report of a worker, which it sends before any other."""
        (file,) = self.folder.glob(f"{pid}.*.json")
        return file.read_text()


@contextlib.contextmanager
def ground_in(folder: Path) -> Iterator[Ground]:
    with network(3) as net, contextlib.ExitStack() as stack:

        def wait(host: Host, client: str | None) -> Workers:
            where, env = f"{net.address}:{PORT}", {FOLDER: str(folder)}
            made = forked_workers(
                folder, where, client=client, threads=1, network=host.name, env=env
            )
            return stack.enter_context(made)

        made = [wait(*each) for each in zip(net.hosts, (None, "ldap3", None), strict=True)]
        yield Ground(net, made, folder)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground_in(tmp_path_factory.mktemp("ground")) as made:
        yield made


@pytest.fixture(scope="module")
def port() -> int:
    """The port of each directory: the page of a master with permissions is bound to one target."""
    return free_port()


@contextlib.contextmanager
def directory_at(ground: Ground, port: int) -> Iterator[Directory]:
    """A new directory for each run, at the address of the test itself."""
    people = generate(Spec(PEOPLE, locales=LOCALES)).population
    config = {"host": ground.net.address, "port": port, "suffix": "o=Intranet", "profile": "paper"}
    made = Directory(json.dumps(config), people)
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def directory(ground: Ground, port: int) -> Iterator[Directory]:
    with directory_at(ground, port) as made:
        yield made


@pytest.fixture(scope="class")
def with_screen(
    ground: Ground, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Master]:
    target = ("--target", f"ldap://{ground.net.address}:{port}")
    where = (tmp_path_factory.mktemp("screen") / "master", "witnessed_ils.py", ground.net.address)
    with master(*where, *target, "--disposable", FLAG, *POPULATION) as started:
        yield started


def did(directory: Directory) -> int:
    done = directory.stats()
    return done["adds"] + done["searches"] + done["connections"]


def visible(counted: Counter[str]) -> Counter[str]:
    """Remove whole passes, because Locust's statistics show their steps."""
    return Counter({step: n for step, n in counted.items() if step != SEQUENCE})


def agree(
    directory: Directory,
    counted: Counter[str],
    looks: int = LOOKS,
    afterwards: int = 0,
    bases: int = 0,
) -> None:
    """Compare with the directory's own counts, without sitebench's own searches.

    `bases` of these searches look for no base, because connections do not need one.
    """
    done = directory.stats()
    assert done["adds"] == counted["add"]
    assert done["searches"] == counted["lookup"] + looks - bases
    assert done["binds"] == counted["bind"] + looks + afterwards


class TestWithTheWebUi:
    @pytest.mark.parametrize(
        ("users", "user"), [(8, "AddUser"), (12, "LookupUser"), (8, "ConnectUser")]
    )
    def test_counts_are_exact_after_a_stop_in_the_web_ui(
        self, with_screen: Master, ground: Ground, directory: Directory, users: int, user: str
    ) -> None:
        screen = with_screen.screen
        waited_for(lambda: len(with_screen.ready()) == 3, "three workers did not come")
        before = with_screen.counted()
        screen.start(user, users, target=f"ldap://{directory.address}", rate="")
        waited_for(lambda: ground.all_made_load() and did(directory) > ENOUGH, "nothing was done")
        waited_for(with_screen.measuring, "nothing was measured")
        screen.post("/stop")
        counted = with_screen.counted() - before
        assert counted == ground.saw()
        assert screen.totals() == visible(counted)
        bases = 2 if user == "ConnectUser" else 0
        agree(directory, counted, LOOKS + OF_THE_PAGE, afterwards=1, bases=bases)

    def test_counts_are_exact_after_the_kill_of_a_worker(
        self, with_screen: Master, ground: Ground, directory: Directory
    ) -> None:
        """Reports sent by the killed worker count, and the other workers' reports are complete."""
        waited_for(lambda: len(with_screen.ready()) == 3, "three workers did not come")
        before, three = with_screen.counted(), with_screen.ready()
        target = f"ldap://{directory.address}"
        with_screen.screen.start("LookupUser", 8, target=target, rate="")
        waited_for(lambda: ground.all_made_load() and did(directory) > ENOUGH, "nothing was done")
        killed = ground.workers[0].started[-1]
        first = ground.drained_by(killed.pid)
        waited_for(lambda: ground.drained_by(killed.pid) != first, "it drained once and no more")
        killed.kill()
        left = directory.stats()["searches"]
        waited_for(lambda: directory.stats()["searches"] > left + ENOUGH, "the others stopped too")
        with_screen.screen.post("/stop")
        counted, saw = with_screen.counted() - before, seen_by_process(ground.folder)
        lost = saw.pop(killed.pid)
        of_the_others = sum(saw.values(), Counter())
        # The last drain may have been in transit; earlier drains were not.
        sent, told = counted - of_the_others, Counter(json.loads(first))
        assert told.total() > 0
        assert all(told[step] <= sent[step] <= lost[step] for step in lost)
        assert counted == of_the_others + sent
        unsent = directory.stats()["searches"] - LOOKS - counted["lookup"]
        assert unsent >= 0
        # Otherwise the next test would begin with the killed worker.
        waited_for(lambda: len(with_screen.ready() - three) == 1, "no other took its place")
        waited_for(lambda: len(with_screen.ready()) == 3, "the killed worker is still waited for")


@pytest.mark.timeout(300)
def test_counts_are_exact_at_the_end_of_the_run_time(
    ground: Ground, port: int, tmp_path: Path
) -> None:
    """The run time begins with the start, and a busy machine may need all of it to begin."""
    for seconds in (6, 24, 96):
        folder, lasts = tmp_path / str(seconds), ("-t", f"{seconds}s")
        with (
            directory_at(ground, port) as directory,
            headless(folder, ground, directory, *lasts, "LookupUser") as run,
        ):
            shown = run.end(or_says="give it more time")
            if shown.total() > ENOUGH:
                exact(run, shown, ground, directory)
                return
            ground.saw()
    raise AssertionError("this machine is too busy to do anything in a minute and a half")


def test_counts_are_exact_after_ctrl_c(
    ground: Ground, directory: Directory, tmp_path: Path
) -> None:
    with headless(tmp_path, ground, directory, "AddUser") as run:
        waited_for(lambda: ground.all_made_load() and did(directory) > ENOUGH, "nothing was done")
        shown = run.end(signal.SIGINT)
    exact(run, shown, ground, directory)


def test_counts_are_exact_at_the_end_of_the_measured_window(
    ground: Ground, directory: Directory, tmp_path: Path
) -> None:
    windows = ("--warmup", "300ms", "--measure", "1s")
    with headless(tmp_path, ground, directory, *windows, "AddUser") as run:
        shown = run.end()
    exact(run, shown, ground, directory)
    with RunFile(run.folder / "run") as file:
        (point,) = file.points()
        (whole,) = (each for each in file.steps(point.id) if each.step == "add")
    assert point.result is not None
    result = point.result
    assert len(result.workers) == 3
    clients = sorted(each.client for each in result.workers)
    assert clients == ["ldap3", "native", "native"]
    assert {each.address for each in result.workers} == {host.address for host in ground.net.hosts}
    assert sum(each.missing for each in result.workers) == 0
    (add,) = (step for step in result.steps if step.step == "add")
    assert whole.count == add.count == whole.clocks["service"].count
    rates = sum(each.operations / each.seconds for each in result.workers)
    total = sum(step.per_s for step in result.steps if step.step != SEQUENCE)
    assert total == pytest.approx(rates)
    assert result.little is not None
    assert result.little.holds, result.little.evidence


@contextlib.contextmanager
def headless(folder: Path, ground: Ground, directory: Directory, *more: str) -> Iterator[Master]:
    target = ("--disposable", FLAG, "--target", f"ldap://{directory.address}", *POPULATION)
    where = (folder / "master", "witnessed_ils.py", ground.net.address)
    with master(*where, *HEADLESS, *target, *more) as run:
        yield run


def exact(run: Master, shown: Counter[str], ground: Ground, directory: Directory) -> None:
    counted = run.counted()
    assert sum(counted.values()) > ENOUGH
    assert counted == ground.saw(), run.workers()
    assert shown == visible(counted)
    # The session checks once more whether the target answers.
    agree(directory, counted, afterwards=1)


SCENARIO = """
[connection.main]
per = "step"

[data]
visitor.people = "seeded"
newcomer.people = "new"
owner = { people = "seeded", deal = "exclusive" }

[values]
colour = "#{random:6:0-9a-f}"
accent = "#{random:6:0-9a-f}"

[[operation]]
name = "create"
weight = 5

[[operation.step]]
name = "create"
post = "/users"
form = { given = "{newcomer.given}", family = "{newcomer.family}", city = "{newcomer.city}" }
expect.status = 201

[[operation]]
name = "page"
weight = 85
page = true

[[operation.step]]
name = "page"
get = "/"
headers.Cookie = "user={visitor.id}"
expect.identity = { before = '<body data-user="', value = "{visitor.id}", until = '"' }

[[operation]]
name = "change"
weight = 10
page = true
counts = "updated-page"

[[operation.step]]
name = "update"
post = "/preferences"
headers.Cookie = "user={owner.id}"
form = { background = "{colour}", accent = "{accent}" }
expect.status = 204

[[operation.step]]
name = "updated-page"
get = "/"
headers.Cookie = "user={owner.id}"
expect.fresh = ['data-background="{colour}"', 'data-accent="{accent}"']
"""


def test_counts_of_three_workers_at_a_site_are_exact(ground: Ground, tmp_path: Path) -> None:
    """The scenario file is only on the master."""
    upd = build(UpdSpec(PEOPLE, locales=LOCALES), tmp_path / "upd.sqlite")
    site = Site(json.dumps({"host": ground.net.address, "database": str(upd.path)}))
    (tmp_path / "site.toml").write_text(SCENARIO)
    try:
        target = (FLAG, "--target", f"http://{site.address}", "--scenario", "../site.toml")
        more = (*HEADLESS, *target, *POPULATION, "FileUser")
        folder = tmp_path / "master"
        # A worker with the previous master's file, too late for its test, would join the next test
        # with it.
        for worker in (each for every in ground.workers for each in every.started[-1:]):
            worker.kill()
        with master(folder, "witnessed_ps.py", ground.net.address, *more) as run:
            waited_for(lambda: ground.all_made_load() and site.stats()["pages"] > ENOUGH, "no page")
            shown = run.end(signal.SIGINT)
        counted, done = run.counted(), site.stats()
    finally:
        site.stop()
    assert counted == ground.saw()
    assert min(counted[step] for step in ("create", "page", "update", "updated-page")) > 0
    assert done["pages"] == counted["page"] + counted["updated-page"]
    assert (done["creates"], done["updates"]) == (counted["create"], counted["update"])
    assert shown == visible(counted)
