"""Load shapes: the users they ask for come, and every operation of theirs is counted once."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitebench.locust.shapes.plans import ShapeOptions
from sitebench.options.option import fields_of
from sitebench.options.spelling import long_option
from tests.locustfiles.conftest import (
    ENOUGH,
    LOCALES,
    LOCUSTFILE,
    LOOKS_OF_THE_PAGE,
    PEOPLE,
    Counting,
    Finished,
    agrees,
    headless,
)
from tests.support.screen import Screen, screen_of
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
WITH_SHAPES = f"{LOCUSTFILE},{ROOT / 'locustfiles' / 'shapes.py'}"
OWN_SHAPE = ROOT / "examples" / "own_shape.py"
PAGE = ROOT / "docs" / "locust.md"


def shaped(folder: Path, counting: Counting, *more: str) -> Finished:
    return headless(folder, counting, *more, "LookupUser", locustfile=WITH_SHAPES)


def asked_for(ran: Finished) -> list[int]:
    """Return the numbers of users that Locust was told, in order."""
    return [int(users) for users in re.findall(r"Shape test updating to (\d+) users", ran.said)]


@pytest.mark.parametrize(
    ("asked", "users"),
    [
        # Without a name Locust takes the first.
        (("-u", "5", "--step-users", "2", "--step-time", "1s"), [2, 4, 5]),
        (
            *[("--shape", "Spike", "-u", "6", "--calm-users", "2")],
            [2, 6, 2],
        ),
    ],
)
def test_users_come_and_go_as_a_shape_says(
    tmp_path: Path, counting: Counting, asked: tuple[str, ...], users: list[int]
) -> None:
    times = ("--calm-time", "1s", "--spike-time", "2s", "--rate", "200")
    ran = shaped(tmp_path, counting, "-r", "100", *asked, *times)
    assert ran.code == 0, ran.said
    assert ran.counts["lookup", "lookup"] > 100
    agrees(ran, counting)
    # It is looked at once a second, and that may miss a stage of one second.
    told = asked_for(ran)
    assert told[0] == users[0]
    assert len(told) > 1
    assert set(told) <= set(users)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--shape", "Lunch"), "no load shape 'Lunch'; use one of Steps, Spike, Knee"),
        (("--step-time", "1s", "-u", "8", "-r", "2"), "-r 8 or more"),
        (("--shape", "Spike", "-u", "4", "-r", "9"), "--calm-users (8) must be fewer than -u (4)"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_one_line(
    tmp_path: Path, counting: Counting, asked: tuple[str, ...], said: str
) -> None:
    ran = shaped(tmp_path, counting, *asked)
    assert ran.code == 2
    (line,) = [each for each in ran.said.splitlines() if "/ERROR/" in each]
    assert said in line
    assert "Traceback" not in ran.said


def test_a_shape_of_ones_own_is_a_few_lines(tmp_path: Path, counting: Counting) -> None:
    load = ("-u", "4", "-r", "100", "--rate", "200", "--warmup", "0s", "--measure", "1s")
    ran = headless(tmp_path, counting, *load, locustfile=OWN_SHAPE)
    assert ran.code == 0, ran.said
    assert asked_for(ran) == [1]
    agrees(ran, counting)


def test_the_page_shows_it_and_tells_of_every_option_of_a_shape() -> None:
    """Locust's own --help has none that come with a locustfile."""
    page = PAGE.read_text()
    assert f'--8<-- "{OWN_SHAPE.relative_to(ROOT)}"' in page
    for each, spec in fields_of(ShapeOptions):
        option = f"{long_option(each.name)} {spec.metavar}".strip()
        assert f"| `{option}` | {spec.help} |" in page


BOTH = """
from ils_bench.locustfile import AddUser, ConnectUser, LookupUser
from sitebench.locust.shapes.ready import Spike, Steps
"""


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    folder = tmp_path_factory.mktemp("screen")
    (folder / "both.py").write_text(BOTH)
    yield from screen_of(folder / "both.py", folder, "--disposable")


SHAPED = {"step_users": "2", "step_time": "1s", "calm_users": "2"}
TIMES = {"calm_time": "1s", "spike_time": "1s", "rate": "400"}


@pytest.mark.parametrize(
    ("user", "shape", "program"),
    [
        ("LookupUser", "Default", "lookup"),
        ("ConnectUser", "Default", "connect"),
        ("AddUser", "Steps", "add"),
        ("LookupUser", "Spike", "lookup"),
    ],
)
def test_user_classes_and_shapes_are_picked_on_the_page(
    screen: Screen, counting: Counting, user: str, shape: str, program: str
) -> None:
    where = {"target": counting.url, "entries": str(PEOPLE), "locales": ",".join(LOCALES)}
    picked = {"user_classes": user, "shape_class": shape, "user_count": "4", "spawn_rate": "100"}
    tests = screen.live()["test"]
    answer = screen.post("/swarm", **where, **picked, **SHAPED, **TIMES)
    assert answer["success"], answer
    assert eventually(lambda: screen.live()["test"] > tests), screen.live()
    if shape == "Default":
        asked = ("binds", "searches")
        assert eventually(lambda: max(counting.since()[each] for each in asked) > ENOUGH)
        assert eventually(lambda: screen.live()["word"] == "measuring"), screen.live()
        screen.post("/stop")
    assert eventually(lambda: not screen.live()["busy"]), screen.live()
    screen.wait(lambda stats: stats["state"] == "stopped")  # It has looked at its target again.
    rows = csv.DictReader(screen.get("/stats/requests/csv").splitlines())
    counts = {(r["Type"], r["Name"]): int(r["Request Count"]) for r in rows if r["Type"]}
    assert {each for each, _ in counts} == {program}
    agrees(Finished(0, str(counts), counts, {}), counting, looks=LOOKS_OF_THE_PAGE)
