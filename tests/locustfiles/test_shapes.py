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
    agrees,
    headless,
)
from tests.support.screen import Screen, screen_of
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
OWN_SHAPE = ROOT / "examples" / "own_shape.py"


def asked_for(ran: Finished) -> list[int]:
    """Return the numbers of users that Locust was set to, in order."""
    return [int(users) for users in re.findall(r"Shape test updating to (\d+) users", ran.err)]


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


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A locustfile with two user-defined shapes."""
    path = tmp_path_factory.mktemp("shapes") / "several.py"
    path.write_text(SEVERAL)
    return path


def test_first_shape_of_a_locustfile_sets_the_number_of_users(
    tmp_path: Path, counting: Counting, several: Path
) -> None:
    load = ("-u", "4", "-r", "100", "--rate", "200")
    ran = headless(tmp_path, counting, *load, "LookupUser", locustfile=several).check(0)
    assert asked_for(ran) == [1]
    agrees(ran, counting)


def test_error_in_a_plan_of_users_is_a_one_line_error(tmp_path: Path, counting: Counting) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SEVERAL.replace("def users_at", "def user_at"))
    ran = headless(tmp_path, counting, "LookupUser", locustfile=wrong).check(1)
    (line,) = [line for line in ran.err.splitlines() if "/ERROR/" in line]
    assert "the load shape Few failed: AttributeError: 'Calm' object has no" in line
    assert "Traceback" not in ran.err


def test_user_defined_shape_needs_only_a_few_lines(tmp_path: Path, counting: Counting) -> None:
    load = ("-u", "4", "-r", "100", "--rate", "200", "--warmup", "0s", "--measure", "1s")
    ran = headless(tmp_path, counting, *load, locustfile=OWN_SHAPE).check(0)
    assert asked_for(ran) == [1]
    agrees(ran, counting)


def test_stages_need_no_shape(tmp_path: Path, counting: Counting) -> None:
    ran = headless(tmp_path, counting, "--stages", "1s:200,1s:200", "-u", "4", "LookupUser")
    ran.check(0)
    assert ran.counts["lookup", "lookup"] == pytest.approx(300, abs=5 * 300**0.5)
    agrees(ran, counting)


@pytest.fixture(scope="module")
def screen(several: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    yield from screen_of(several, tmp_path_factory.mktemp("screen"), "--disposable")


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
    agrees(Finished(0, "", str(counts), counts, {}), counting, looks=LOOKS_OF_THE_PAGE)
