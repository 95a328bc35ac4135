"""Scenario files against sites served by other software."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sitebench._engine import Engine, Table
from tests.ps_bench.test_examples import LOGIN, serving
from tests.support import http_server
from tests.support.cli import in_process
from tests.support.http_server import Handler
from tests.support.waiting import left_s
from tests.tls.certificates import self_signed
from tests.web_bench.servers import nginx


def rows(url: str, text: str, data: Path | None, *, count: int, lanes: int = 4) -> dict[str, Any]:
    """Run a scenario, with `account` as its data, until its operations are done `count` times."""
    address = urlsplit(url)
    secure = {"tls": {"insecure": True}} if address.scheme == "https" else {}
    config = {
        "target": {
            "protocol": "http",
            "host": address.hostname,
            "port": address.port,
            "base_path": address.path,
            **secure,
        },
        "scenarios": [{"name": "login", "text": text}],
    }
    tables = {} if data is None else {"login/account": Table.read(str(data))}
    engine = Engine(json.dumps(config), tables=tables)
    engine.start_lanes("login", lanes)
    give_up = time.monotonic() + left_s()
    found: dict[str, Any] = {}
    while time.monotonic() < give_up and found.get("sequence", {"count": 0})["count"] < count:
        time.sleep(0.1)
        merge(found, engine.drain())
    merge(found, engine.stop())
    return found


def merge(found: dict[str, Any], snapshot: Any) -> None:
    for step in snapshot.steps:
        row = found.setdefault(step.step, {"count": 0, "failures": {}, "examples": {}})
        row["count"] += step.count
        row["failures"] |= dict(step.failures)
        row["examples"] |= dict(step.examples)


def assert_done(found: dict[str, Any], count: int, *steps: str) -> None:
    """Check that steps were done at least `count` times, and never failed."""
    for step in steps:
        assert found[step]["count"] >= count, found
        assert found[step]["failures"] == {}, found


def test_wrong_password_is_a_failed_login_and_is_not_printed(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("number,password,name\n1,not-this-one,Ann\n")
    text = (LOGIN / "login.toml").read_text()
    with serving(LOGIN, tmp_path, "--accounts", str(LOGIN / "accounts.csv")) as url:
        found = rows(url, text, wrong, count=5)
    assert set(found["login"]["failures"]) == {"status:401"}
    assert "expected 303" in found["login"]["examples"]["status:401"]
    assert "not-this-one" not in repr(found)


def test_built_in_scenario_operation_can_be_checked() -> None:
    ran = in_process("ps", "run", "page", "--check", "--entries", "100").check(0)
    assert re.search(r"^  page +\S+ \S+ GET / .*: 200 OK$", ran.out, re.MULTILINE), ran.out


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("requests", [1_000, 1])
def test_redirect_of_a_folder_is_followed(requests: int, secure: bool, tmp_path: Path) -> None:
    (tmp_path / "docs/news").mkdir(parents=True)
    (tmp_path / "docs/news/index.html").write_text("<h1>News")
    shown = self_signed(tmp_path, "shown") if secure else None
    text = """
[[operation]]
name = "news"
step = [
  { get = "/news", follow = true, expect.contains = "<h1>News" },
  { name = "not", get = "/news", expect.status = 301 },
]
"""
    with nginx(tmp_path / "docs", tmp_path / "nginx", requests, shown) as url:
        found = rows(url, text, None, count=40)
    assert_done(found, 40, "get", "not", "sequence")
    log = (tmp_path / "nginx/access.log").read_text()
    asked = [line.split('"')[1] + line.split('"')[2][:4] for line in log.splitlines()]
    moved, page = "GET /base/news HTTP/1.1 301", "GET /base/news/ HTTP/1.1 200"
    assert min(asked.count(moved), asked.count(page)) >= 40
    # Two redirects for each page; four users take turns.
    assert abs(asked.count(moved) / 2 - asked.count(page)) <= 4


def test_login_with_a_redirect_is_followed_to_its_page(tmp_path: Path) -> None:
    accounts = LOGIN / "accounts.csv"
    text = (LOGIN / "login.toml").read_text()
    wanted = 'expect = { status = 303, headers.Location = "/" }'
    assert wanted in text
    text = text.replace(wanted, 'follow = true, expect.contains = "<h1>Hello, {account.name}</h1>"')
    with serving(LOGIN, tmp_path, "--accounts", str(accounts)) as url:
        found = rows(url, text, accounts, count=20)
        (tmp_path / "site.toml").write_text(text)
        shutil.copy(accounts, tmp_path / "accounts.csv")
        checked = in_process("ps", "run", str(tmp_path / "site.toml"), "--check", "--target", url)
    assert_done(found, 20, "form", "login", "account", "again", "sequence")
    assert "POST /login (303 to /)" in checked.out, checked.out + checked.err


class Silent(Handler):
    """Answers requests except those with changes."""

    def post(self) -> None:
        self.content()
        if self.path == "/right":
            self.reply()
        else:
            self.close_connection = True
            time.sleep(5)


def test_lost_rows_are_reported_and_the_last_lost_row_ends_the_test(tmp_path: Path) -> None:
    text = """
[data.account]
range = [1, 6]
deal = "exclusive"

[[operation]]
name = "change"
weight = {weight}
post = "/{path}"
form.of = "{{account}}"

[[operation]]
name = "right"
weight = 9
post = "/right"
form.of = "{{account}}"
"""
    said = {}
    with http_server.serving(Silent) as server:
        for weight, path, measure in ((3, "never", "60s"), (1, "right", "500ms")):
            (tmp_path / "site.toml").write_text(text.format(weight=weight, path=path))
            ran = in_process(
                *("ps", "run", str(tmp_path / "site.toml"), "--target", server.url),
                *("--users", "2", "--threads", "1", "--timeout", "0.3s", "--warmup", "0s"),
                *("--measure", measure, "--json"),
            )
            assert ran.code in (0, 1), ran.err
            warnings = ran.objects[0]["warnings"]
            said[path] = [each["message"] for each in warnings if each["kind"] == "rows-lost"]
            if path == "never":
                assert ran.objects[0]["measure_s"] < 30
    assert said["right"] == []
    (message,) = said["never"]
    assert message.startswith("no row was left after")
    assert "and 6 of them were lost:" in message
