"""Plain Locust users beside sitebench users in one locustfile: each class has its own target."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.locustfiles.conftest import LOOKS, Counting, Headless, arguments, processes
from tests.support.http_server import other_site
from tests.support.locusts import run_locust
from tests.support.screen import Screen, requests, screen_of

MIXED = """
from locust import FastHttpUser, HttpUser, constant, tag, task

from ils_bench.locustfile import LookupUser


class Web(FastHttpUser):
    host = "{url}"
    wait_time = constant(0.05)

    @tag("web")
    @task
    def front(self):
        self.client.get("/fast", name="fast")


class Shop(HttpUser):
    host = "{url}"
    wait_time = constant(0.05)

    @tag("web")
    @task
    def front(self):
        self.client.get("/shop", name="shop")
"""

UNTIL_ASKED = """

from locust import LoadTestShape


class UntilAsked(LoadTestShape):
    def tick(self):
        asked = {{each.name: each.num_requests for each in self.runner.stats.entries.values()}}
        return (3, 3) if min(asked.get(name, 0) for name in {names}) < 5 else None
"""
"""Ends a test after some requests, because a run time includes the start, which may take long."""


Site = tuple[str, list[str]]
"""The address of a site, and its requests."""


@pytest.fixture
def site() -> Iterator[Site]:
    with other_site() as address_and_requests:
        yield address_and_requests


@pytest.fixture
def mixed(site: Site, tmp_path: Path) -> Path:
    path = tmp_path / "mixed.py"
    path.write_text(MIXED.format(url=site[0]))
    return path


def until_asked(mixed: Path, *names: str) -> Path:
    """Add code that ends tests of a locustfile after some requests of each name."""
    mixed.write_text(mixed.read_text() + UNTIL_ASKED.format(names=names))
    return mixed


def asked(site: Site, name: str) -> int:
    return sum(line == f"GET /{name}" for line in site[1])


@pytest.mark.parametrize("distributed", [False, True])
def test_every_class_uses_its_target_in_a_headless_test(
    headless: Headless, mixed: Path, site: Site, distributed: bool
) -> None:
    more = processes(1) if distributed else ()
    file = until_asked(mixed, "fast", "shop", "lookup")
    load = ("--rate", "100")
    ran = headless(*load, *more, locustfile=file, forked=distributed).check(0).agree()
    assert not any(ran.failures.values()), ran.err
    for name in ("fast", "shop"):
        # Locust itself may lose a worker's last report.
        assert 0 < ran.counts["GET", name] <= asked(site, name)


def test_plain_locust_users_run_without_the_sitebench_users_of_their_file(
    headless: Headless, counting: Counting, mixed: Path
) -> None:
    until_asked(mixed, "fast")
    for more in (("Web", "Shop"), ("Web", "--tags", "web"), ("--tags", "web", "--exclude-tags=no")):
        ran = headless(*more, locustfile=mixed).check(0)
        assert {name for _, name in ran.counts} <= {"fast", "shop"}, ran.err
        assert ran.counts["GET", "fast"] > 0, ran.err
    # Sitebench's target gets no requests.
    assert not any(counting.since().values()), counting.since()


def test_plain_locust_users_run_in_workers(
    headless: Headless, counting: Counting, mixed: Path
) -> None:
    file = until_asked(mixed, "fast")
    ran = headless(*processes(1), "Web", locustfile=file).check(0)
    assert ran.counts["GET", "fast"] > 0, ran.err
    assert not any(counting.since().values()), counting.since()


def test_autostart_keeps_plain_locust_users_at_their_own_target(
    tmp_path: Path, counting: Counting, mixed: Path, site: Site
) -> None:
    file, load = until_asked(mixed, "fast", "shop", "lookup"), ("--rate", "100")
    page = ("--autostart", "--autoquit", "0", "--web-port", "0", "--json-file", "totals")
    argv = arguments(file, counting.url, *load, *page)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    run_locust(*argv, cwd=tmp_path, env=state).check(0)
    assert asked(site, "fast") > 0
    assert asked(site, "shop") > 0
    assert counting.since()["searches"] >= 5 + LOOKS["searches"]


@pytest.fixture
def screen(mixed: Path, counting: Counting, tmp_path: Path) -> Iterator[Screen]:
    yield from screen_of(mixed, tmp_path, *arguments(mixed, counting.url)[2:])


def test_every_class_uses_its_target_in_the_web_ui(screen: Screen, counting: Counting) -> None:
    form = {"user_count": "3", "spawn_rate": "3", "rate": "200"}
    # As the page sends it: Locust's own field for a host unchanged, and all classes.
    answer = screen.post("/swarm", **form, host="")
    assert answer["success"], answer
    assert not answer["host"]
    stats = screen.wait(lambda s: all(requests(s, name) > 5 for name in ("fast", "shop", "lookup")))
    assert stats["errors"] == []
    screen.stop()
    # Only the plain Locust users: sitebench's target gets no requests.
    before = counting.since()["searches"]
    answer = screen.post("/swarm", **form, host="", user_classes="Web")
    assert answer["success"], answer
    stats = screen.wait(lambda s: s["user_count"] == 3 and requests(s, "fast") > 5)
    screen.stop()
    assert stats["errors"] == []
    # Only sitebench's users again.
    screen.run("LookupUser", "lookup", 100, 2, host="")
    assert counting.since()["searches"] > before


def test_host_field_applies_only_to_plain_locust_users(screen: Screen, site: Site) -> None:
    with other_site() as (url, heard):
        answer = screen.post("/swarm", user_count="3", spawn_rate="3", rate="100", host=url)
        assert answer["success"], answer
        stats = screen.wait(
            lambda s: all(requests(s, name) > 5 for name in ("fast", "shop", "lookup"))
        )
        assert stats["errors"] == []
        screen.stop()
        assert {"GET /fast", "GET /shop"} == set(heard)
    assert not site[1]
