"""Tests that apply only to nginx; test_started.py has the tests common with Apache."""

from collections import Counter
from pathlib import Path

import pytest

from sitebench.monitor.reached import listener
from tests.support.programs import required_program
from tests.support.waiting import eventually
from tests.web_bench.started import ask, family, names
from web_bench.targets import nginx


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    required_program("nginx")


def test_nginx_master_is_the_parent_of_all_programs() -> None:
    required_program("fcgiwrap")
    expected = {"nginx": 3, "fcgiwrap": 17, "sitebench-cgi": 1}
    with nginx.serving(None, threads=2) as started:
        # A program that has answered may still be ending, and fcgiwrap starting its processes.
        assert eventually(lambda: Counter(names(started.pid)) == expected)


def test_nginx_master_is_found_by_its_address() -> None:
    with nginx.serving(None, threads=2, kinds=()) as started:
        assert listener(started.address.host, started.address.port) == started.pid


def test_only_required_programs_of_nginx_are_started() -> None:
    with nginx.serving(None, kinds={"page"}) as started:
        assert [each.name() for each in family(started.pid)] == ["nginx", "nginx"]
        assert started.programs.keys() == {"page"}
        assert started.facts["version"].startswith("nginx/")
        configuration = started.facts["configuration"]
    assert "worker_processes 1;" in configuration
    assert "@" not in configuration


def test_nginx_directives_are_replaced_or_added(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("a")
    directives = {"sendfile": "off", "worker_connections": "600", "etag": "off"}
    with nginx.serving(tmp_path, directives=directives, kinds=()) as started:
        lines = [line.strip() for line in started.facts["configuration"].splitlines()]
        found = ask(started.address, "/a.html")
    assert lines.count("sendfile off;") == 1
    assert "sendfile on;" not in lines
    assert lines.count("worker_connections 600;") == 1
    assert found.body == b"a"
    assert "etag" not in found.headers
