"""The whole page in a real browser: headless Chromium, used as by a person."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sitebench.runs.runfile import RunFile
from tests.locust.web_ui.test_session import points, recorded, total
from tests.support.browser import Browser, browsing
from tests.support.cli import in_process
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import LIVE, WebPage, web_ui

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def browser(chromedriver: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(chromedriver, tmp_path_factory.mktemp("browser")) as browser:
        browser.resize(1_300, 1_000)
        yield browser


@contextmanager
def opened(browser: Browser, folder: Path) -> Iterator[WebPage]:
    """Yield the page of a new web UI with a limited rate."""
    with web_ui(folder, "ils", "--rate", "400") as (_, root):
        page = WebPage(browser, root)
        # The previous page still polls its server, which has ended; its errors are not this page's.
        browser.open("about:blank")
        browser.complaints()
        page.open()
        yield page


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[WebPage]:
    (tmp_path / "ui").mkdir()
    with opened(browser, tmp_path / "ui") as page:
        yield page


@pytest.fixture(scope="module")
def unused(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebPage]:
    """A page without a started test."""
    with opened(browser, tmp_path_factory.mktemp("unused")) as page:
        yield page


def moves(page: WebPage) -> bool:
    """Return whether every live chart is drawn, and has changed within a moment."""
    if not eventually(lambda: bool(lines := page.lines()) and all(lines.values())):
        return False
    before = page.lines()
    return eventually(lambda: all(page.lines()[chart] != before[chart] for chart in before))


def table(page: WebPage, name: str) -> list[list[str]]:
    """Return a table of the live page, without its head."""
    rows = f"[...page?.querySelectorAll('#{name} tbody tr') ?? []]"
    cells = "map(row => [...row.cells].map(cell => cell.textContent))"
    shown: list[list[str]] = page.browser.run(f"{LIVE} return {rows}.{cells}")
    return shown


def figure(text: str) -> float:
    return float(text.replace(",", ""))


def test_start_button_runs_the_default_operation_of_the_form(page: WebPage) -> None:
    assert page.sees("return Boolean(document.querySelector('.sitebench-form'))")
    said = page.browser.text(".sitebench-form")
    assert "--session" in said
    for word in ("Target", "Entries"):  # As on the command line.
        assert word in said
    assert "`" not in said
    form = page.browser.run("return document.querySelector('form').textContent")
    assert "RateOperations/s, whether or not they are answered" in form.replace("\u200b", ""), form
    page.fill(target="embedded", entries="1k", userCount="2", spawnRate="2")
    page.press("Start")
    page.screen.until_done("lookup", 100)
    assert page.screen.live()["title"].startswith("lookup at 1k")


TABS = """
return [...document.querySelectorAll('[role=tab]')].map(tab => [tab.textContent,
  tab.getBoundingClientRect()]).sort(([, a], [, b]) => a.left - b.left).map(([text, {right}]) =>
  [text, right]);
"""


ORDER = "return [...document.querySelectorAll('[role=tab]')].map(tab => tab.textContent)"
VISIBLE = """
return [...document.querySelectorAll('form :is(input, select)')].filter(field =>
  field.offsetParent && field.getBoundingClientRect().height).length;
"""
CUT = """
return [...document.querySelectorAll('form :is(label, small)')].filter(text =>
  text.offsetParent && text.scrollWidth > text.clientWidth + 1).map(text => text.textContent);
"""


DOWNLOADS = """
return [...document.querySelectorAll('a[href]')].map(link => link.textContent).filter(text =>
  /run file|eport/.test(text)).join(" ")"""


def test_page_opens_with_the_live_view_and_tells_at_once_that_a_test_stops(page: WebPage) -> None:
    assert page.browser.run("return document.title") == "sitebench"
    after = "return getComputedStyle(document.querySelector('header a'), '::after').content"
    assert page.browser.run(after) == '"sitebench"'
    page.start("LookupUser", entries="1k", userCount="2", spawnRate="2")
    assert page.sees(LIVE + "return page?.getElementById('word')?.textContent === 'measuring'")
    tabs = page.browser.run(TABS)
    assert [text for text, _ in tabs[:2]] == ["Live", "Statistics"]
    assert max(right for _, right in tabs) < 1_280
    assert eventually(lambda: page.screen.live()["quoted"])
    assert "generator, invalid" not in page.get("/sitebench/live.js").decode()
    tasks = json.loads(page.get("/tasks"))
    assert tasks == {kind: {"LookupUser": {"ratio": 1.0}} for kind in ("per_class", "total")}
    assert page.browser.run(ORDER)[0] == "Live"
    page.tab("Statistics")
    page.press("Stop")
    said = "return [...document.querySelectorAll('header span')].map(each => each.textContent)"
    assert {"stopping", "stopped"} & set(page.browser.run(said))
    assert page.sees(said + ".includes('stopped')")
    # The verdict is the purpose of the test.
    assert page.sees(LIVE + "return page?.getElementById('stamp')?.hidden === false")
    # The page itself filled the field Host with the target.
    assert "--host" not in json.dumps(json.loads(page.get("/logs")))
    page.tab("Download Data")
    names = ["Download report", "Download run file", "Download Locust's report"]
    assert page.sees(DOWNLOADS + f" === {json.dumps(' '.join(names))}"), page.browser.run(DOWNLOADS)
    titles = "return [...document.querySelectorAll('header p')].map(title => title.textContent)"
    assert "Steps/s, last\u00a010\u00a0s" in page.browser.run(titles)


def test_fields_added_to_the_form_of_locust_have_headings_and_plain_names(unused: WebPage) -> None:
    page = unused
    page.open()
    names = "return [...document.querySelectorAll('.sitebench-form [name]')].map(f => f.name)"
    assert page.sees(names + ".length > 3")
    first = ["userClasses", "target", "base", "names", "entries", "stages"]
    assert page.browser.run(names) == first
    heads = "return [...document.querySelectorAll('.sitebench-group')].map(h => h.textContent)"
    groups = ["Load", "Target", "Entries", "TLS", "Workers", "Advanced"]
    assert eventually(lambda: page.browser.run(heads) == groups), page.browser.run(heads)
    page.browser.run(
        "for (const each of document.querySelectorAll('[class*=AccordionSummary-root]'))"
        " if (each.textContent.startsWith('Custom')) each.click()"
    )
    assert page.sees("return document.querySelector('.sitebench-group').offsetParent !== null")
    assert page.browser.run(VISIBLE) <= 12
    page.browser.run("document.querySelectorAll('.sitebench-group').forEach(g => g.click())")
    assert eventually(lambda: page.browser.run(VISIBLE) > 30)
    assert page.browser.run(CUT) == []
    named = page.browser.run(
        "return [...document.querySelectorAll('form :is(label, .MuiFormControlLabel-label)')]"
        ".map(label => [...label.childNodes].find(node => node.nodeType === 3)?.nodeValue ?? '')"
    )
    assert {"TLS CA", "Bind DN", "SASL", "Start TLS", "TLS"} <= set(named)
    assert not [label for label in named if "Tls" in label or "Dn" in label]


def test_last_stage_of_rates_or_users_ends_the_test(page: WebPage, tmp_path: Path) -> None:
    page.start(
        "LookupUser", entries="1k", userCount="4", spawnRate="4", rate="", stages="1s:100,2s:300"
    )
    assert eventually(lambda: len(ended(page)) == 1)
    page.press("New")
    page.start("LookupUser", stages="1s:2 users,2s:6 users", think="10ms")
    assert eventually(lambda: len(ended(page)) == 2), page.get("/sitebench/live.json")
    assert [each["error"] for each in ended(page)] == [None, None]
    assert "stages 1s:100, 2s:300" in ended(page)[0]["title"]
    copy = page.screen.download(tmp_path / "copy.sitebench")
    with RunFile(copy) as run:
        rates, users = run.results()
    assert [span.asked for span in rates.spans] == pytest.approx([50.0, 150.0, 250.0])
    assert rates.operations == pytest.approx(450, abs=5 * 450**0.5)
    assert [span.users for span in users.spans] == pytest.approx([1.0, 3.0, 5.0])
    assert (users.spec.users, users.spec.rate) == (6, None)
    page.press("New")
    page.fill(rate="10")
    page.press("Start")
    message = "--rate and --stages both set the rate or the length"
    assert page.sees(f"return document.body.textContent.includes('{message}')")


def ended(page: WebPage) -> list[dict[str, Any]]:
    """Return the tests of the session, once none runs."""
    live = page.screen.live()
    found: list[dict[str, Any]] = [] if live["busy"] else live["tests"]
    return found


def test_two_tests_can_be_run_from_the_form_to_the_report(page: WebPage, tmp_path: Path) -> None:
    screen = page.screen
    page.start("LookupUser", userCount="4", spawnRate="4", entries="10k", keys="zipfian")
    page.tab("Live")
    assert moves(page), "not: charts move"
    lookups_shown = eventually(lambda: any(figure(row[2]) > 1_000 for row in table(page, "micros")))
    assert lookups_shown, table(page, "micros")
    (row,) = [row for row in table(page, "micros") if row[1] == "lookup"]
    p50, most, mean = (figure(row[column]) for column in (4, 9, 10))
    assert 0 < p50 < most
    assert 0 < mean < most
    assert eventually(lambda: ["target", "CPU"] in [row[:2] for row in table(page, "resources")])
    page.press("Edit")
    page.fill(userCount="6", spawnRate="6")
    page.press("Update")
    screen.until_lanes(6)
    # The test checks only that there is a verdict, because its text depends on the machine.
    stamp = LIVE + "return page?.querySelector('#stamp:not([hidden])')?.textContent.trim()"
    assert eventually(lambda: "/s" in (page.browser.run(stamp) or "")), page.browser.run(stamp)
    page.press("Stop")
    lookups = totals_at_end(screen)

    page.press("New")
    page.start("ConnectUser", userCount="4", spawnRate="4", entries="100k")
    screen.until_done("connect", 100)
    page.press("Stop")
    connects = totals_at_end(screen)

    page.tab("Live")
    assert page.sees(LIVE + "return page?.querySelectorAll('#tests tbody tr').length === 2")
    assert page.browser.complaints() == []
    copy = screen.download(tmp_path / "copy.sitebench")
    report = tmp_path / "report.html"
    tests = (("lookup", 10_000, 6, lookups), ("connect", 100_000, 4, connects))
    for point, (operation, entries, users, totals) in zip(points(copy), tests, strict=True):
        spec = point.spec
        assert (spec.operation, spec.entries, spec.users) == (operation, entries, users)
        assert point.status == "done"
        # Exactly the engine's counts, as in Locust's own totals.
        counts = recorded(copy, point)
        assert {step: total(counts, step) for step in totals} == totals

    report.write_bytes(page.get("/sitebench/report?download"))
    page.browser.draw(report)
    in_process("report", str(copy), "--out", str(tmp_path / "again.html")).check(0)


HOLD = """
(() => {
  const real = window.fetch;
  window.release = null;
  window.fetch = async (...request) => {
    const reply = await real(...request);
    if (!window.release && request[0].url.includes("stats/requests"))
      await new Promise(release => { window.release = release; });
    return reply;
  };
})();
"""


def test_late_answer_from_before_the_start_does_not_reopen_the_form(page: WebPage) -> None:
    browser = page.browser
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=HOLD)
    try:
        page.open()
        assert page.sees("return Boolean(window.release)")
        page.start("LookupUser", entries="1k", userCount="2", spawnRate="2")
        page.tab("Live")
        browser.run("window.release()")
        back = "return document.body.innerText.includes('Start new load test')"
        assert not eventually(lambda: bool(browser.run(back)), 1.0)
        page.press("Stop")
    finally:
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", **script)


def totals_at_end(screen: Screen) -> Counter[str]:
    """Wait for a test's end; return Locust's own totals by step."""
    assert eventually(lambda: not screen.live()["busy"])
    return screen.totals()


BAR = """
const bar = document.getElementById('filled').cloneNode();
Object.assign(bar, {max: 100, value: 25});
document.body.prepend(bar);
const {left, top, width, height} = bar.getBoundingClientRect();
return [left + 0.75 * width, top + 0.5 * height];
"""
PIXEL = """
const [png, x, y] = arguments, picture = new Image();
picture.src = `data:image/png;base64,${png}`;
return picture.decode().then(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  canvas.drawImage(picture, -x, -y);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
});
"""


def test_empty_progress_bar_is_light_in_the_light_theme(unused: WebPage, tmp_path: Path) -> None:
    for theme, least, most in (("light", 190, 245), ("dark", 30, 120)):
        unused.browser.open(f"{unused.root}/sitebench/live?theme={theme}")
        x, y = unused.browser.run(BAR)
        unused.browser.screenshot(picture := tmp_path / f"{theme}.png")
        png = base64.b64encode(picture.read_bytes()).decode()
        colour = unused.browser.run(PIXEL, png, int(x), int(y))
        assert least <= min(colour) <= max(colour) <= most, (theme, colour)
