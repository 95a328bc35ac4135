"""Screenshots of the web UI and of a report for the docs, taken from real runs.

`python -m tests.docs.screenshots` (or `make screenshots`) writes docs/images/*.png, and the output
of the sweep of the report's pictures into README.md: run it on a quiet machine.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from tests.docs.cli_page import ROOT
from tests.support.browser import Browser, browsing
from tests.support.cli import sitebench
from tests.support.programs import required_program
from tests.support.web_page import LIVE, WebPage, web_ui

FOLDER = ROOT / "docs" / "images"
README = ROOT / "README.md"
WIDTH, HEIGHT = 1_280, 860
REPORT_WIDTH = 1_000
RUNS_S = 20.0
SWEEP = (
    *("directory", "sweep", "--sizes", "1k,10k,100k", "--operations", "add,lookup"),
    *("--out", "directory.sitebench"),
)
TO = "document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant'})"
SHOWS = "return [...document.querySelectorAll('button')].some(b => b.textContent === arguments[0])"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sitebench-screenshots-") as name:
        folder = Path(name)
        with (
            web_ui(folder, "ils", "--think", "2ms") as (_, root),
            browsing(required_program("chromedriver"), folder) as browser,
        ):
            browser.resize(WIDTH, HEIGHT)
            _walk(WebPage(browser, root))
        os.environ["XDG_CACHE_HOME"] = name  # Nothing is there yet, so it is made.
        with (
            web_ui(folder, "ps", "--entries", "1m", "--locales", "en_US") as (_, root),
            browsing(required_program("chromedriver"), folder) as browser,
        ):
            browser.resize(WIDTH, HEIGHT)
            _filling(WebPage(browser, root))
        with browsing(required_program("chromedriver"), folder) as browser:
            _report(browser, folder)


def _walk(page: WebPage) -> None:
    page.open()
    page.browser.run("localStorage.theme = 'light'")
    page.open()
    page.choose("LookupUser")
    page.fill(userCount="64", spawnRate="64", entries="10k", think="2ms")
    page.browser.run(
        "[...document.querySelectorAll('[class*=AccordionSummary-root]')].at(-1).click()"
    )
    time.sleep(1.0)
    _shoot(page.browser, "ui-form", 1_500)
    page.press("Start")
    page.tab("Live")
    time.sleep(RUNS_S)
    _shoot(page.browser, "ui-live", 770)
    page.browser.run(LIVE + "page.getElementById('micros').scrollIntoView()")
    time.sleep(3.0)
    _shoot(page.browser, "ui-tables")
    page.press("Stop")
    assert page.sees(SHOWS, "New")
    time.sleep(3.0)
    page.browser.run(LIVE + "page.getElementById('tests').scrollIntoView()")
    _shoot(page.browser, "ui-tests")


def _filling(page: WebPage) -> None:
    page.open()
    page.browser.run("localStorage.theme = 'light'")
    page.open()
    page.choose("PageUser")
    page.press("Start")
    page.tab("Live")
    assert page.sees(LIVE + "return page?.getElementById('filled')?.value > 50000")
    _shoot(page.browser, "ui-filling", 420)
    page.press("Stop")
    assert page.sees(SHOWS, "New")


def with_sample(readme: str, printed: str) -> str:
    """Return README.md with a sweep's output: its table, and the first advice."""
    lines = printed.splitlines()
    sample = "\n".join(lines[: lines.index("What to do") + 3])
    before, command, rest = readme.partition(f"$ sitebench {' '.join(SWEEP)}\n")
    _, end, after = rest.partition("\n```")
    return before + command + sample + end + after


def _report(browser: Browser, folder: Path) -> None:
    page = folder / "report.html"
    for argv in (SWEEP, ("report", "--out", str(page), SWEEP[-1])):
        done = sitebench(*argv, cwd=folder, timeout_s=600).check(0)
        if argv == SWEEP:
            README.write_text(with_sample(README.read_text(), done.out))
    browser.resize(REPORT_WIDTH, HEIGHT)
    browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
    browser.draw(page)
    for name, top, height in (
        ("report", "header", 1_000),
        ("report-rates", "#rates h2", 1_130),
        ("report-time", "#spectrum h2", 1_300),
    ):
        browser.resize(REPORT_WIDTH, height)
        browser.run(TO, top)
        _shoot(browser, name, height, REPORT_WIDTH)


def _shoot(browser: Browser, name: str, height: int = HEIGHT, width: int = WIDTH) -> None:
    browser.resize(width, height)
    time.sleep(0.6)
    browser.screenshot(FOLDER / f"{name}.png")
    browser.resize(width, HEIGHT)


if __name__ == "__main__":
    main()
