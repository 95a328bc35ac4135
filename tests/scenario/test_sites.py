"""Scenario files against sites that other people's software serves."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from sitebench._engine import Engine, Table
from tests.ps_bench.test_examples import LOGIN, serving
from tests.support.cli import in_process


def rows(url: str, text: str, data: Path | None, *, count: int, lanes: int = 4) -> dict[str, Any]:
    """Run a scenario, with the data `account` if any, until its operations were done so often."""
    host, port = url.removeprefix("http://").split(":")
    config = {
        "target": {"protocol": "http", "host": host, "port": int(port)},
        "scenarios": [{"name": "login", "text": text}],
    }
    tables = {} if data is None else {"login/account": Table.read(str(data))}
    engine = Engine(json.dumps(config), tables=tables)
    engine.start_lanes("login", lanes)
    give_up = time.monotonic() + 60
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


def test_users_log_in_with_a_token_and_keep_their_session_for_a_visit(tmp_path: Path) -> None:
    accounts = LOGIN / "accounts.csv"
    text = (LOGIN / "login.toml").read_text()
    with serving(LOGIN, tmp_path, "--accounts", str(accounts)) as url:
        found = rows(url, text, accounts, count=20)
    for step in ("form", "login", "account", "again", "sequence"):
        assert found[step]["count"] >= 20, found
        assert found[step]["failures"] == {}, found


def test_a_wrong_password_is_a_failed_login_and_is_shown_nowhere(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("number,password,name\n1,not-this-one,Ann\n")
    text = (LOGIN / "login.toml").read_text()
    with serving(LOGIN, tmp_path, "--accounts", str(LOGIN / "accounts.csv")) as url:
        found = rows(url, text, wrong, count=5)
    assert set(found["login"]["failures"]) == {"status:401"}
    assert "expected 303" in found["login"]["examples"]["status:401"]
    assert "not-this-one" not in repr(found)


def test_a_built_in_operation_that_is_a_scenario_is_tried_too() -> None:
    ran = in_process("ps", "run", "page", "--check", "--entries", "100")
    assert ran.code == 0, ran.err
    assert re.search(r"^  page +\S+ \S+ GET / .*: 200 OK$", ran.out, re.MULTILINE), ran.out
