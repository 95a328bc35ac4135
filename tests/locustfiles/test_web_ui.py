"""The web UI, over its own HTTP interface, with nothing but the locustfile named."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.ports import free_port
from tests.locustfiles.conftest import LOCUSTFILE


class Screen:
    """Locust's web UI as a browser talks to it."""

    def __init__(self, port: int) -> None:
        self._root = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"{self._root}{path}", timeout=30) as answer:
            text: str = answer.read().decode()
            return text

    def post(self, path: str, **fields: str) -> dict[str, Any]:
        data = urllib.parse.urlencode(fields).encode()
        with urllib.request.urlopen(f"{self._root}{path}", data, timeout=60) as answer:
            found: dict[str, Any] = json.loads(answer.read())
            return found

    def stop(self) -> None:
        self.post("/stop")
        self.wait(lambda stats: stats["state"] == "stopped")

    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get("/stats/requests"))
        return found

    def wait(self, ready: Any, within_s: float = 30.0) -> dict[str, Any]:
        give_up = time.monotonic() + within_s
        while True:
            # The UI caches its statistics for two seconds.
            stats = self.stats()
            if ready(stats):
                return stats
            assert time.monotonic() < give_up, stats
            time.sleep(0.2)


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    yield from screen_of(LOCUSTFILE, tmp_path_factory.mktemp("screen"))


def screen_of(locustfile: Path, folder: Path) -> Iterator[Screen]:
    """Yield the web UI of a Locust that was given nothing but its locustfile."""
    port = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "locust", "-f", str(locustfile)),
            *("--web-host", "127.0.0.1", "--web-port", str(port)),
        ],
        cwd=folder,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = Screen(port)
    give_up = time.monotonic() + 30
    while True:
        try:
            found.get("/")
            break
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < give_up
            time.sleep(0.1)
    yield found
    process.terminate()
    process.wait(20)


def requests(stats: dict[str, Any], name: str) -> int:
    return sum(row["num_requests"] for row in stats["stats"] if row["name"] == name)


@pytest.mark.parametrize(
    ("user", "step"),
    [
        ("ConnectUser", "connect"),
        ("AddUser", "add"),
        ("LookupUser", "lookup"),
        ("RetrieveUser", "retrieve"),
        ("SessionUser", "retrieve"),
        ("RegisterUser", "register"),
    ],
)
def test_each_class_runs_against_an_embedded_directory(
    screen: Screen, user: str, step: str
) -> None:
    answer = screen.post("/swarm", user_count="4", spawn_rate="4", user_classes=user)
    assert answer["success"], answer
    stats = screen.wait(lambda s: s["user_count"] == 4 and requests(s, step) >= 4)
    assert stats["errors"] == []
    screen.stop()
    assert screen.stats()["errors"] == []


def test_the_number_of_users_can_be_changed_while_it_runs(screen: Screen) -> None:
    screen.post("/swarm", user_count="2", spawn_rate="10", user_classes="LookupUser")
    screen.wait(lambda s: s["user_count"] == 2 and requests(s, "lookup") > 0)
    screen.post("/swarm", user_count="6", spawn_rate="10", user_classes="LookupUser")
    screen.wait(lambda s: s["user_count"] == 6)
    screen.post("/swarm", user_count="1", spawn_rate="10", user_classes="LookupUser")
    stats = screen.wait(lambda s: s["user_count"] == 1)
    assert stats["errors"] == []
    screen.stop()


def test_the_form_offers_the_options_of_the_command_line(screen: Screen) -> None:
    page = screen.get("/")
    for name in ("entries", "profile", "keys", "rate", "think", "target"):
        assert re.search(rf'"{name}"', page), name
    for hidden in ("target_pid", "disposable", "store"):
        assert not re.search(rf'"{hidden}": ?\{{', page), hidden


def test_a_size_from_the_form_is_taken(screen: Screen) -> None:
    screen.post("/swarm", user_count="1", spawn_rate="1", user_classes="RetrieveUser", entries="1k")
    small = screen.wait(lambda s: requests(s, "retrieve") > 3)
    (row,) = [row for row in small["stats"] if row["name"] == "retrieve"]
    screen.stop()
    # A thousand names and their DNs, not ten thousand.
    assert 30_000 < row["avg_content_length"] < 300_000


def test_a_wrong_target_does_not_end_the_ui(screen: Screen) -> None:
    target = f"ldap://127.0.0.1:{free_port()}"
    screen.post("/swarm", user_count="1", spawn_rate="1", user_classes="LookupUser", target=target)
    screen.wait(lambda s: s["state"] == "stopped")
    screen.post(
        "/swarm", user_count="1", spawn_rate="1", user_classes="LookupUser", target="embedded"
    )
    screen.wait(lambda s: requests(s, "lookup") > 0)
    screen.stop()
