"""The suite's web UI, used in a real browser: from the form to the report."""

from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from tests.support.browser import browsing
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import WebPage, web_ui

pytestmark = pytest.mark.timeout(300)


def test_workload_is_run_from_the_form_to_the_report(chromedriver: Path, tmp_path: Path) -> None:
    (tmp_path / "ui").mkdir()
    ui = web_ui(tmp_path / "ui", "web", forked=False)
    with ui as (_, root), browsing(chromedriver, tmp_path) as browser:
        page, screen = WebPage(browser, root), Screen(root)
        page.open()
        page.choose("WebBench1LightUser")
        page.fill(userCount="4", spawnRate="4")
        page.press("Start")
        screen.until_done("cgi-env", 100)
        page.tab("Live")
        assert eventually(lambda: bool(lines := page.lines()) and all(lines.values()))
        page.press("Stop")
        assert eventually(lambda: not screen.live()["busy"])
        totals = screen.totals()

        copy, report = tmp_path / "copy.sitebench", tmp_path / "report.html"
        copy.write_bytes(page.get("/sitebench/run"))
        with RunFile(copy) as run:
            (point,) = run.points()
            counted = sum(row.count for row in run.timeline(point.id) if row.step == "cgi-env")
        assert (point.spec.suite, point.spec.operation) == ("web", "webbench1-light")
        assert counted == totals["cgi-env"]

        report.write_bytes(page.get("/sitebench/report?download"))
        browser.draw(report)
        said = browser.text("body")
        assert "WebBench 1.0, light CGI" in said
        assert browser.complaints() == []
