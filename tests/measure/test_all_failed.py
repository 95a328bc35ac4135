"""A run with only failures shows the first example of each kind in every output."""

import html
import re
from pathlib import Path

from tests.support.cli import in_process
from tests.support.http_server import other_site

SCENARIO = """
[[operation]]
name = "order"
get = "/cart"
expect.status = 201
"""
BRIEF = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "500ms")
FIRST = "get: GET /cart: 200"


def test_first_example_of_each_failure_is_in_terminal_junit_and_report(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(SCENARIO)
    with other_site() as (url, _):
        run = ("ps", "run", "--target", url, "--scenario", "shop.toml", *BRIEF)
        out = ("--out", "l.sitebench", "--junit", "l.xml")
        ran = in_process(*run, *out, cwd=tmp_path)
    assert ran.code == 1
    said = next(line for line in ran.err.splitlines() if line.startswith("sitebench: "))
    assert re.search(rf"no operation succeeded: status:200 x [\d,]+, the first: {FIRST}", said)
    assert FIRST in (tmp_path / "l.xml").read_text()

    in_process("report", "l.sitebench", "--markdown", "l.md", cwd=tmp_path).check(0)
    page = html.unescape((tmp_path / "l.html").read_text())
    assert re.findall(r'<section id="(\w+)"', page) == ["failures", "manifest"]
    # In the table of kinds, and in the events of the point.
    assert page.count(FIRST) == 2
    assert FIRST in (tmp_path / "l.md").read_text()
    assert "each of them failed" in (tmp_path / "l.md").read_text()

    in_process("report", "l.sitebench", "l.sitebench", cwd=tmp_path).check(
        2,
        "has no measured point (1 planned, 1 of them failed)",
        "a report of this file alone: sitebench report l.sitebench",
    )


def test_points_of_an_unreachable_target_are_errors_in_junit(tmp_path: Path) -> None:
    """These points were `skipped`, and the file had no reason."""
    run = ("ils", "run", "lookup", "--target", "ldap://127.0.0.1:1", "--entries", "10")
    in_process(*run, "--junit", "down.xml", cwd=tmp_path).check(1)
    text = (tmp_path / "down.xml").read_text()
    assert 'errors="1"' in text
    assert "<error message=" in text
    assert "nothing answers at ldap://127.0.0.1:1" in text
    assert "<skipped" not in text
