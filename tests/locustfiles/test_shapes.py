"""Load shapes: the requested users start, and each of their operations is counted once."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.locustfiles.conftest import (
    ENOUGH,
    LOCALES,
    LOOKS_OF_THE_PAGE,
    PEOPLE,
    Counting,
    Finished,
    Headless,
)
from tests.support.screen import Screen, screen_of
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
OWN_SHAPE = ROOT / "examples" / "own_shape.py"


SEVERAL = """
from ils_bench.locustfile import AddUser, ConnectUser, LookupUser
from sitebench.locust import shapes


class Calm:
    lasts_s = 1.0

    def users_at(self, elapsed_s):
        return 1


class Busy:
    lasts_s = 2.0

    def users_at(self, elapsed_s):
        return 3


class Few(shapes.Shape):
    def plan(self):
        return Calm()


class Many(shapes.Shape):
    def plan(self):
        return Busy()
"""


@pytest.mark.parametrize(
    ("code", "window"),
    [(SEVERAL, ()), (OWN_SHAPE.read_text(), ("--warmup", "0s", "--measure", "1s"))],
    ids=["first of several", "example"],
)
def test_shape_of_a_locustfile_sets_the_number_of_users(
    headless: Headless, code: str, window: tuple[str, ...]
) -> None:
    load = ("-u", "4", "-r", "100", "--rate", "200", *window)
    ran = headless(*load, "LookupUser", code=code).check(0).agree()
    updates = re.findall(r"Shape test updating to (\d+) users", ran.err)
    assert updates == ["1"]


def test_error_in_a_plan_of_users_is_a_one_line_error(headless: Headless) -> None:
    ran = headless("LookupUser", code=SEVERAL.replace("def users_at", "def user_at")).check(1)
    (line,) = [line for line in ran.err.splitlines() if "/ERROR/" in line]
    assert "the load shape Few failed: AttributeError: 'Calm' object has no" in line


def test_stages_need_no_shape(headless: Headless) -> None:
    stages = ("--stages", "1s:200,1s:200", "-u", "4", "LookupUser")
    ran = headless(*stages).check(0).agree()
    assert ran.counts["lookup", "lookup"] == pytest.approx(300, abs=5 * 300**0.5)


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    folder = tmp_path_factory.mktemp("screen")
    (folder / "several.py").write_text(SEVERAL)
    yield from screen_of(folder / "several.py", folder, "--disposable")


@pytest.mark.parametrize(
    ("user", "shape", "program"),
    [
        ("LookupUser", "Default", "lookup"),
        ("ConnectUser", "Default", "connect"),
        ("AddUser", "Many", "add"),
    ],
)
def test_user_classes_and_shapes_can_be_chosen_on_the_page(
    screen: Screen, counting: Counting, user: str, shape: str, program: str
) -> None:
    where = {"target": counting.url, "entries": str(PEOPLE), "locales": ",".join(LOCALES)}
    picked = {"user_classes": user, "shape_class": shape, "user_count": "4", "spawn_rate": "100"}
    tests = screen.live()["test"]
    answer = screen.post("/swarm", **where, **picked, rate="400")
    assert answer["success"], answer
    assert eventually(lambda: screen.live()["test"] > tests), screen.live()
    if shape == "Default":
        asked = ("binds", "searches")
        assert eventually(lambda: max(counting.since()[each] for each in asked) > ENOUGH)
        assert eventually(lambda: screen.live()["word"] == "measuring"), screen.live()
        screen.post("/stop")
    assert eventually(lambda: not screen.live()["busy"]), screen.live()
    screen.wait(lambda stats: stats["state"] == "stopped")  # after the last probe of the target
    rows = csv.DictReader(screen.get("/stats/requests/csv").splitlines())
    counts = {(r["Type"], r["Name"]): int(r["Request Count"]) for r in rows if r["Type"]}
    assert {each for each, _ in counts} == {program}
    Finished(0, "", str(counts), counts, {}, counting).agree(LOOKS_OF_THE_PAGE)
