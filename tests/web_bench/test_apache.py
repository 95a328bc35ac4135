"""Tests that apply only to Apache; test_started.py has the tests common with nginx."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.support.programs import required_program
from tests.support.waiting import eventually
from tests.web_bench.started import ask, family, names
from web_bench.targets import apache


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    required_program("apache2")


def test_apache_keeps_the_requested_number_of_processes() -> None:
    with apache.serving(None, threads=2) as started:
        # The master, the starter of CGI programs, and two servers; a program that has answered may
        # still be ending.
        expected = ["apache2"] * 4 + ["sitebench-cgi"]
        assert eventually(lambda: names(started.pid) == expected)
        begun = [each for each in family(started.pid) if each.name() == "apache2"]
        # Each of the two starts its threads one by one.
        assert eventually(lambda: sorted(each.num_threads() for each in begun)[2:] == [322] * 2)
        assert started.facts["version"].startswith("Apache/2")
        assert "@" not in started.facts["configuration"]


def test_apache_directives_are_replaced_or_added(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("a")
    directives = {"threadsperchild": "7", "FileETag": "None", "KeepAlive": "Off"}
    with apache.serving(tmp_path, directives=directives, kinds=()) as started:
        lines = started.facts["configuration"].splitlines()
        found = ask(started.address, "/a.html")

        def most_threads() -> int:
            return max(each.num_threads() for each in family(started.pid))

        # Apache starts them one by one, and the first of them answers.
        assert eventually(lambda: most_threads() == 7 + 2)
    assert lines.count("KeepAlive Off") == 1
    assert "KeepAlive On" not in lines
    assert found.body == b"a"
    assert found.headers["connection"] == "close"
    assert "etag" not in found.headers


def test_lua_pages_have_the_requested_sizes_and_refuse_invalid_paths() -> None:
    with apache.serving(None, kinds={"inprocess", "template"}) as started:
        assert len(ask(started.address, "/dynamic/constant").body) == 6_250
        first, second = (ask(started.address, "/dynamic/random?size=200000") for _ in range(2))
        assert len(first.body) == len(second.body) == 200_000
        assert first.body != second.body
        for path in ("/dynamic/template/100", "/dynamic/template/a", "/dynamic/send"):
            assert ask(started.address, path).status == 404


def test_in_process_programs_answer_with_html() -> None:
    """As servlets did: "6,250 bytes of HTML" (2000)."""
    with apache.serving(None, kinds={"inprocess"}) as started:
        for size in (49, 6_250, 20_000):
            found = ask(started.address, f"/dynamic/constant?size={size}")
            assert (len(found.body), found.headers["content-type"]) == (size, "text/html")
            assert found.body.startswith(b"<!DOCTYPE html>\n<title>sitebench</title>\n<p>")
            assert found.body.endswith(b"</p>\n")


def test_templates_are_not_compiled_by_each_thread() -> None:
    """Each of 640 threads compiled all hundred templates on first use."""
    with (
        apache.serving(None, kinds={"inprocess", "template"}) as started,
        ThreadPoolExecutor(32) as pool,
    ):

        def cpu_s(path: str) -> float:
            """Return the CPU time of 400 requests, 32 of them at a time."""
            before = _cpu_s(started.pid)
            paths = [path.format(n % 100) for n in range(400)]
            assert all(
                each.status == 200 for each in pool.map(partial(ask, started.address), paths)
            )
            return _cpu_s(started.pid) - before

        cpu_s("/dynamic/constant?{}")
        # The same bytes from the same interpreters, except for the pages: 0.1 and 0.14 s, instead
        # of 1.4.
        of_text, of_pages = cpu_s("/dynamic/constant?{}"), cpu_s("/dynamic/template/{}")
    assert of_pages < 4 * of_text + 0.1


def _cpu_s(pid: int) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in family(pid))
