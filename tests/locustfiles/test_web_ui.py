"""The web UI over its HTTP interface, with only the locustfile named."""

import re
from collections.abc import Iterator

import pytest

from sitebench.system.network import free_port
from tests.locustfiles.conftest import LOCUSTFILE
from tests.support.screen import Screen, requests, screen_of


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    yield from screen_of(LOCUSTFILE, tmp_path_factory.mktemp("screen"))


@pytest.mark.parametrize(
    ("user", "step"),
    [
        ("ConnectUser", "connect"),
        ("AddUser", "add"),
        ("LookupUser", "lookup"),
        ("RetrieveUser", "retrieve"),
        ("SessionUser", "retrieve"),
        ("RegisterUser", "register"),
        ("LoginUser", "bind"),
    ],
)
def test_every_class_runs_on_an_embedded_directory(screen: Screen, user: str, step: str) -> None:
    # Sessions last for minutes.
    rate = "" if user == "SessionUser" else "10"
    screen.start(user, rate=rate, profile="person" if user == "LoginUser" else "paper")
    stats = screen.wait(lambda s: s["user_count"] == 4 and requests(s, step) >= 4)
    assert stats["errors"] == []
    screen.stop()
    assert screen.stats()["errors"] == []


def test_form_offers_the_options_of_the_command_line(screen: Screen) -> None:
    page = screen.get("/")
    for name in ("entries", "profile", "keys", "rate", "think", "target"):
        assert re.search(rf'"{name}"', page), name
    for hidden in ("explicit", "disposable"):
        assert not re.search(rf'"{hidden}": ?\{{', page), hidden


def test_number_of_people_from_the_form_is_used(screen: Screen) -> None:
    screen.start("RetrieveUser", 1, entries="1k", rate="10")
    screen.until_done("retrieve", 4)
    (row,) = [row for row in screen.rows() if row["Name"] == "retrieve"]
    screen.stop()
    # A thousand names and their DNs, not ten thousand.
    assert 30_000 < float(row["Average Content Size"]) < 300_000


def test_wrong_target_is_refused_and_does_not_end_the_web_ui(screen: Screen) -> None:
    address = f"127.0.0.1:{free_port()}"
    screen.refuse(address, "LookupUser", target=f"ldap://{address}")
    screen.run("LookupUser", "lookup", 1, 1, target="embedded")
