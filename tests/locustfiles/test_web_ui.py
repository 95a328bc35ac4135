"""The web UI over its HTTP interface, with only the locustfile named."""

import re
from collections.abc import Iterator

import pytest

from tests.locustfiles.conftest import LOCUSTFILE
from tests.support.screen import Screen, requests, screen_of


@pytest.fixture(scope="module")
def screen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Screen]:
    """The web UI of a suite's locustfile."""
    locustfile = LOCUSTFILE.with_stem(request.param)
    yield from screen_of(locustfile, tmp_path_factory.mktemp("screen"))


@pytest.mark.parametrize(
    ("screen", "user", "step"),
    [
        ("ils", "ConnectUser", "connect"),
        ("ils", "AddUser", "add"),
        ("ils", "LookupUser", "lookup"),
        ("ils", "RetrieveUser", "retrieve"),
        ("ils", "SessionUser", "retrieve"),
        ("ils", "RegisterUser", "register"),
        ("ils", "LoginUser", "bind"),
        ("ps", "ScenarioUser", "page"),
        ("ps", "PageUser", "page"),
        ("ps", "CreateUser", "create"),
        ("ps", "UpdateUser", "update"),
        ("ps", "ImageUser", "image"),
    ],
    indirect=["screen"],
)
def test_every_class_runs_on_an_embedded_target(screen: Screen, user: str, step: str) -> None:
    # Sessions last for minutes.
    rate = "" if user == "SessionUser" else "10"
    screen.start(user, rate=rate, profile="person" if user == "LoginUser" else "paper")
    stats = screen.wait(lambda s: s["user_count"] == 4 and requests(s, step) >= 4)
    assert stats["errors"] == []
    screen.stop()
    assert screen.stats()["errors"] == []


@pytest.mark.parametrize("screen", ["ils"], indirect=True)
def test_form_offers_the_options_of_the_command_line(screen: Screen) -> None:
    page = screen.get("/")
    for name in ("entries", "profile", "keys", "rate", "think", "target"):
        assert re.search(rf'"{name}"', page), name
    for hidden in ("explicit", "disposable"):
        assert not re.search(rf'"{hidden}": ?\{{', page), hidden


@pytest.mark.parametrize("screen", ["ils"], indirect=True)
def test_number_of_people_from_the_form_is_used(screen: Screen) -> None:
    screen.start("RetrieveUser", 1, entries="1k", rate="10")
    screen.until_done("retrieve", 4)
    (row,) = [row for row in screen.rows() if row["Name"] == "retrieve"]
    screen.stop()
    # A thousand names and their DNs, not ten thousand.
    assert 30_000 < float(row["Average Content Size"]) < 300_000
