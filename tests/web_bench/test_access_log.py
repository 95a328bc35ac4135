"""`--access-log`: started servers list their requests, as the papers' servers did."""

import re
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from ps_bench.options import PsOptions
from ps_bench.targets.opening import open_target as open_site
from tests.support.cli import in_process
from tests.support.programs import required_program
from tests.support.waiting import eventually
from web_bench.options import WebOptions
from web_bench.targets.opening import open_target

COMMON = re.compile(
    r'127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "[^"]+" \d{3} (\d+|-)'
)


def log_of(pid: int) -> Path | None:
    """Return the log that a server or one of its processes has open."""
    server = psutil.Process(pid)
    for each in (server, *server.children(recursive=True)):
        links = Path(f"/proc/{each.pid}/fd").iterdir()
        found = [link for link in links if str(link.readlink()).endswith("access.log")]
        if found:
            return found[0].resolve()
    return None


def assert_logs(opened: Any, path: str) -> None:
    try:
        log = log_of(opened.pid)
        assert log is not None
        for _ in range(2):
            with urllib.request.urlopen(f"{opened.address}{path}", timeout=10) as answer:
                length = len(answer.read())

        def lines() -> list[str]:
            asked = [line for line in log.read_text().splitlines() if f" {path} " in line]
            return [line for line in asked if line.endswith(f'" 200 {length}')]

        # The embedded servers write once a second, with the next request or at their end.
        def logged() -> bool:
            urllib.request.urlopen(f"{opened.address}{path}", timeout=10).close()
            return len(lines()) >= 2

        assert eventually(logged), log.read_text()
        assert all(COMMON.fullmatch(line) for line in lines())
    finally:
        opened.stop()


@pytest.mark.parametrize("target", ["embedded", "nginx", "apache"])
def test_started_web_server_lists_its_requests(target: str, tmp_path: Path) -> None:
    if target != "embedded":
        required_program("nginx" if target == "nginx" else "apache2")
    (tmp_path / "index.html").write_text("hello")
    options = WebOptions(target=target, docroot=str(tmp_path), path="/index.html", access_log=True)
    assert_logs(open_target(options, []), "/index.html")


def test_started_site_lists_its_requests() -> None:
    assert_logs(open_site(PsOptions(entries=1_000, access_log=True)), "/")


@pytest.mark.parametrize(
    ("argv", "points"),
    [(("run", "--access-log"), 1), (("vary", "path", "--vary", "access-log=on"), 2)],
)
def test_point_is_measured_with_an_access_log(
    argv: tuple[str, ...], points: int, tmp_path: Path
) -> None:
    """The load process refused it, because it does not start the server itself."""
    (tmp_path / "index.html").write_text("hello")
    where = ("--docroot", str(tmp_path), "--path", "/index.html", "--users", "1", "--rate", "200")
    ran = in_process("web", *argv, *where, "--warmup", "0s", "--measure", "500ms", "--json")
    assert [point["failures"] for point in ran.objects] == [0] * points
