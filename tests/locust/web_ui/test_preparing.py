"""While a target is being filled the page answers, shows progress, and can cancel it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench._engine import Directory
from sitebench.targets.ownership import FLAG
from tests.locustfiles.conftest import LOCALES
from tests.support.http_server import other_site
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import web_ui

pytestmark = pytest.mark.timeout(180)
MANY, FEW = 400_000, 2_000


def test_progress_of_a_database_build_is_shown_and_can_be_cancelled(tmp_path: Path) -> None:
    with web_ui(tmp_path, "ps", "--locales", "en_US", "--entries", str(MANY)) as (_, root):
        screen, seen = Screen(root), list[dict[str, Any]]()

        def filling() -> bool:
            found = screen.live()["preparing"]
            if found is not None and found["done"]:
                seen.append(found)
            return len(seen) >= 2 and seen[-1]["done"] > seen[0]["done"]

        screen.start("PageUser")
        assert eventually(filling), seen
        assert seen[-1]["total"] == MANY
        assert screen.stats()["state"] == "spawning"
        screen.stop()
        screen.run("PageUser", "page", 10, entries="1k")
        assert [test["quoted"] is not None for test in screen.live()["tests"]] == [True]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Directory]:
    """A directory of another owner, without people."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    config = {"host": "127.0.0.1", "port": 0, "suffix": "o=Intranet"}
    served = Directory(json.dumps(config), None)
    yield served
    served.stop()


def of(directory: Directory, entries: int) -> tuple[str, ...]:
    target = ("--target", f"ldap://{directory.address}", "--base", "o=Intranet")
    return (*target, FLAG, "--entries", str(entries), "--locales", ",".join(LOCALES))


def test_directory_of_the_user_has_added_people_only_during_the_test(
    tmp_path: Path, directory: Directory
) -> None:
    with web_ui(tmp_path, "ils", *of(directory, FEW)) as (_, root):
        screen = Screen(root)
        screen.start("LookupUser")
        screen.until_done("lookup", 100)
        assert directory.stats()["adds"] == FEW
        screen.stop()
        assert screen.stats()["errors"] == []
        assert eventually(lambda: directory.stats()["deletes"] == FEW)


def test_failed_removal_of_people_is_reported(tmp_path: Path, directory: Directory) -> None:
    output: list[str] = []
    with web_ui(tmp_path, "ils", *of(directory, FEW), output=output) as (_, root):
        screen = Screen(root)
        screen.start("LookupUser")
        screen.until_done("lookup", 100)
        directory.stop()
        screen.stop()
    assert "Traceback" not in output[0]
    assert f"ldap://{directory.address}" in output[0]


def test_interrupted_seeding_is_undone(tmp_path: Path, directory: Directory) -> None:
    output: list[str] = []
    with web_ui(tmp_path, "ils", *of(directory, MANY), output=output) as (_, root):
        screen = Screen(root)
        empty = directory.stats()["entries"]
        screen.start("LookupUser")
        assert eventually(lambda: ((screen.live()["preparing"] or {}).get("done", 0)) > 0)
        screen.stop()
        assert 0 < directory.stats()["adds"] < MANY
        assert eventually(lambda: directory.stats()["entries"] == empty), directory.stats()
    assert "Traceback" not in output[0]


def test_user_class_of_the_scenario_runs_by_default(tmp_path: Path) -> None:
    scenario = tmp_path / "shop.toml"
    scenario.write_text('[[operation]]\nname = "front"\nget = "/"\n')
    with web_ui(tmp_path, "ps", "--entries", "1k", "--scenario", str(scenario)) as (_, root):
        screen = Screen(root)
        with other_site() as (url, _):
            screen.run("FileUser", "get", 10, target=url)
        assert [test["error"] for test in screen.live()["tests"]] == [None]


def test_rows_per_user_are_checked_against_the_users_of_the_form(tmp_path: Path) -> None:
    (tmp_path / "account.csv").write_text("name\n" + "".join(f"p{n}\n" for n in range(5)))
    scenario = tmp_path / "own.toml"
    scenario.write_text(
        '[data.account]\nfile = "account.csv"\nper = "user"\n'
        '[[operation]]\nname = "front"\nget = "/?{account.name}"\n'
    )
    with other_site() as (url, _):
        start = ("ps", "--entries", "1k", "--scenario", str(scenario), "--target", url)
        with web_ui(tmp_path, *start) as (_, root):
            screen = Screen(root)
            screen.refuse("account, which has 5, and there are 6 users", "FileUser", 6)
            screen.run("FileUser", "get", 10, 5)


def test_site_of_another_kind_is_refused_and_the_next_test_runs(tmp_path: Path) -> None:
    with web_ui(tmp_path, "ps", "--entries", "1k") as (_, root):
        screen = Screen(root)
        with other_site() as (url, requests):
            screen.refuse(f"{url} is not sitebench's own site", "PageUser", 2, target=url)
        assert set(requests) == {"GET /"}
        screen.run("PageUser", "page", 10)
        assert [test["error"] for test in screen.live()["tests"]] == [None]
