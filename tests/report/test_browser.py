"""The page in headless Chromium without a network, with a real run of each suite."""

import base64
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.report import build
from sitebench.report.model import Report, load
from sitebench.runs.store import RunStore
from sitebench.runs.timeline import Slot
from tests.report import made
from tests.support.browser import Browser, browsing
from tests.support.cli import in_process
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(300)
"""A real sweep takes longer on a busy machine."""

SHORT = ("--warmup", "100ms", "--measure", "1s", "--threads", "1")
LEFT, RIGHT, ESCAPE = "\ue012", "\ue014", "\ue00c"
PRINTED = {"printed-ils-lookup"} | {
    f"printed-ps-{name}" for name in ("web-pages", "asp-requests", "upd-reads")
}
"""Collapsed figures, which are drawn when they are opened."""
MARKS = """
return Object.fromEntries([...document.querySelectorAll('figure.chart')].map(figure => [
  figure.dataset.chart,
  [...figure.querySelectorAll('svg .mark-line path, svg .mark-symbol path, svg .mark-rect path')]
    .filter(mark => mark.getBBox().width + mark.getBBox().height > 0).length]))
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on short real sweeps of both embedded servers."""
    folder = tmp_path_factory.mktemp("real")
    directory, site = folder / "directory.sitebench", folder / "site.sitebench"
    for words, run in (
        ("ils sweep --operations lookup --sizes 1k,2k --users 4", directory),
        ("ils run lookup --entries 1k --users 8", directory),
        ("ps run --entries 1k --users 4", site),
    ):
        in_process(*words.split(), *SHORT, "--out", run).check(0)
    report = folder / "report.html"
    in_process("report", directory, site, "--out", report).check(0)
    return report


@pytest.fixture(scope="module")
def browser(chromedriver: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(chromedriver, tmp_path_factory.mktemp("browser")) as opened:
        opened.devtools("Network.enable")
        rates = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        opened.devtools("Network.emulateNetworkConditions", offline=True, **rates)
        yield opened


@pytest.fixture
def fresh(browser: Browser, page: Path) -> Browser:
    """The page, drawn anew for one test, which may change it."""
    browser.resize(1_200)
    browser.draw(page)
    return browser


@pytest.fixture
def shown(browser: Browser, request: pytest.FixtureRequest) -> Browser:
    """The page as the previous test left it, if that test did not change it."""
    if not browser.run("return window.unchanged === true"):
        request.getfixturevalue("fresh")
        browser.run("window.unchanged = true")
    browser.resize(1_200)
    return browser


def test_charts_are_drawn_without_errors_and_offline(
    shown: Browser, page: Path, tmp_path: Path
) -> None:
    marks = shown.run(MARKS)
    assert set(marks) == {
        *("overview", "rate-ils-lookup", "curve", "spectrum", "over-time"),
        *PRINTED,
    }
    assert all(count >= 2 for name, count in marks.items() if name not in PRINTED), marks
    assert shown.complaints() == []
    assert shown.run("return performance.getEntriesByType('resource').length") == 0
    assert page.stat().st_size < 2_000_000
    shown.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 30_000


def test_verdict_cards_and_chart_are_visible_without_scrolling(shown: Browser) -> None:
    """Two runs, one of each suite, on a screen of 1,280 by 900."""
    shown.resize(1_280)
    ends = "return Math.round(document.querySelector(arguments[0]).getBoundingClientRect().bottom)"
    assert 0 < shown.run(ends, ".cards") < shown.run(ends, "#figure-overview") <= 900


FIRST_SCREEN = """
const words = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  const seen = box.height && box.top >= 0 && box.left >= 0 && box.right <= innerWidth;
  if (seen && box.bottom <= innerHeight) words.push(node.textContent);
}
return words.join(' ').replace(/\\s+/g, ' ');
"""
"""The text that a reader sees without scrolling."""


@pytest.mark.parametrize(("width", "height"), [(1_440, 900), (390, 844)])
def test_first_screen_has_a_target_a_date_a_load_a_result_trust_and_a_next_step(
    browser: Browser, page: Path, tmp_path: Path, width: int, height: int
) -> None:
    alone = tmp_path / "alone.html"
    in_process("report", page.parent / "directory.sitebench", "--out", alone).check(0)
    browser.resize(width, height)
    browser.draw(alone)
    text = browser.run(FIRST_SCREEN)
    assert "Load test of the embedded server" in text
    assert re.search(r"\d{1,2} \w+ 20\d\d, \d\d:\d\d UTC", text), text
    assert re.search(r"1k to 2k entries · 4 to 8 users with no pauses · measured for 1\S* ", text)
    assert re.search(r"Lookup (at least )?[\d,]+/s [12]k entries: (p95|latency not known)", text)
    assert re.search(r"(Measured|[Ll]ower bounds|[Nn]ot usable).* rates? (is|are) ", text), text
    assert "Next step:" in text


def test_report_of_several_runs_has_a_result_on_the_first_screen_of_a_phone(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    """The heads and stamps of three runs filled the first screen."""
    copies = [page.parent / name for name in ("directory.sitebench", "site.sitebench")]
    copies.append(Path(shutil.copy(copies[0], tmp_path / "again.sitebench")))
    report = tmp_path / "several.html"
    in_process("report", *copies, "--out", report).check(0)
    browser.resize(390, 844)
    browser.draw(report)
    text = browser.run(FIRST_SCREEN)
    assert re.search(r"\d{1,2} \w+ 20\d\d, \d\d:\d\d UTC", text), text
    assert re.search(r"Lookup, directory (at least )?[\d,]+/s", text), text


CUT = (
    "return [...document.querySelectorAll('#results > .scroll')]"
    ".filter(place => place.scrollWidth > place.clientWidth).map(place => place.ariaLabel)"
)


def test_no_result_is_cut_off_on_screen_or_on_paper(fresh: Browser) -> None:
    assert fresh.run(CUT) == []
    fresh.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    fresh.resize(710)  # Letter, without its margins.
    assert fresh.run(CUT) == []
    fresh.devtools("Emulation.setEmulatedMedia", media="", features=[])


def test_histograms_and_figures_can_be_downloaded(shown: Browser, tmp_path: Path) -> None:
    shown.devtools("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for name, begins in (("directory.csv", "point,"), ("site.hlog", "#[Logged with sitebench]")):
        shown.run("document.querySelector(`a[download='${arguments[0]}']`).click()", name)
        kept = tmp_path / name
        assert eventually(kept.exists), name
        assert kept.read_text().startswith(begins)


def test_dark_theme_is_used_on_screen_and_light_on_paper(fresh: Browser) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    ink = (
        "return getComputedStyle(document.querySelector"
        "('[data-chart=rate-ils-lookup] .role-axis-label text')).fill"
    )
    light = fresh.run(ground), fresh.run(ink)
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    fresh.devtools("Emulation.setEmulatedMedia", features=[dark])
    assert fresh.run(ground) == "rgb(20, 24, 28)"
    assert fresh.run(ink) != light[1]
    fresh.devtools("Emulation.setEmulatedMedia", media="print", features=[dark])
    assert (fresh.run(ground), fresh.run(ink)) == light
    assert fresh.run("return getComputedStyle(document.querySelector('nav')).display") == "none"
    fresh.devtools("Emulation.setEmulatedMedia", media="", features=[])


def test_printed_report_of_a_demo_has_eight_pages(browser: Browser, tmp_path: Path) -> None:
    """The demo's report had 33 pages: all collapsed tables were printed, and one chart a row."""
    files = [tmp_path / f"{name}.sitebench" for name in ("one", "two", "three")]
    for path in files:
        with RunStore(path) as store:
            for operation in ("connect", "lookup", "add"):
                for entries in (1_000, 10_000, 100_000):
                    spec = made.spec(operation, entries, target=f"ldap://{path.stem}")
                    made.measured(store, spec, generator_share=1.0)
            store.set_manifest({"command": ["sitebench", "ils", "sweep"], "kernel": "Linux"})
    report = load(files)
    page = tmp_path / "report.html"
    page.write_text(build.html(report, build.sections(report)), encoding="utf-8")
    browser.resize(1_200)
    browser.draw(page)
    paper = base64.b64decode(browser.devtools("Page.printToPDF", printBackground=True)["data"])
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 8
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0


def test_each_chart_over_time_names_its_unit_of_time(shown: Browser) -> None:
    titles = shown.run(
        "return [...document.querySelectorAll('#figure-over-time .role-axis-title text')]"
        ".map(title => title.textContent)"
    )
    assert titles.count("seconds") == len(titles) / 2 >= 5, "one axis of time, one of values"


LEGENDS = {
    666: (["p50", "p95"], "in 4 s.", "p99 needs about 10,000 answers in 4 s; see the table."),
    100: (["no line"], "in a second.", "p50 needs about 200 answers, p95 needs about 2,000"),
}
"""The lines of a rate, and two parts of the text below them."""


@pytest.mark.parametrize("per_s", LEGENDS)
def test_legend_over_time_matches_the_drawn_lines(
    browser: Browser, report: Report, tmp_path: Path, per_s: int
) -> None:
    """666/s for 20 s: a p95 for every 4 s and no p99, which was in the legend nevertheless.

    An empty legend would place the whole figure at infinity.
    """
    slots = [Slot("measured", n * 10**9, (n + 1) * 10**9, per_s) for n in range(20)]
    for slot in slots:
        slot.latency.record(100_000, per_s)
    (run,) = report.runs
    one = Report([replace(run, points=[replace(run.points[0], slots=slots)])])
    page = tmp_path / "slow.html"
    page.write_text(build.html(one, build.sections(one)), encoding="utf-8")
    browser.draw(page)
    legend = (
        "return [...document.querySelectorAll('#figure-over-time .role-legend-label text')]"
        ".map(label => label.textContent).filter(name => /^p[0-9]|line/.test(name))"
    )
    drawn, *texts = LEGENDS[per_s]
    assert browser.run(legend) == drawn
    shown = browser.text("#over-time p[data-choice]:not([hidden])")
    for text in texts:
        assert text in shown
    assert browser.complaints() == []


def test_point_can_be_chosen_from_the_list_and_is_drawn(fresh: Browser) -> None:
    drawing = (
        "return [...document.querySelectorAll('[data-chart=over-time] svg .mark-rect path')]"
        ".map(cell => cell.getAttribute('d') + cell.getAttribute('transform')).join()"
    )
    before = fresh.run(drawing)
    choose = (
        "const list = document.getElementById('choose-over-time');"
        "list.selectedIndex = arguments[0]; list.dispatchEvent(new Event('change'));"
    )
    fresh.run(choose, 1)
    assert eventually(lambda: fresh.run(drawing) != before), "not: another point is drawn"
    fresh.run(choose, 0)
    assert eventually(lambda: fresh.run(drawing) == before), "not: the first one is drawn again"


def test_arrow_keys_show_one_series_alone_and_escape_shows_all(fresh: Browser) -> None:
    fresh.run("document.querySelector('#papers details').open = true")
    place = "[data-chart=printed-ils-lookup] .drawing"
    assert eventually(lambda: fresh.run(MARKS)["printed-ils-lookup"] >= 3)
    faint = (
        "return [...document.querySelectorAll('[data-chart=printed-ils-lookup] .mark-line path')]"
        ".filter(line => Number(line.getAttribute('opacity') ?? 1) < 0.5).length"
    )
    assert fresh.run(faint) == 0
    fresh.press(place, RIGHT)
    assert eventually(lambda: fresh.run(faint) == 2), "not: two of three lines are faint"
    label = fresh.attribute(place, "aria-label")
    assert "Only " in label
    fresh.press(place, LEFT)
    assert fresh.attribute(place, "aria-label") != label
    fresh.press(place, ESCAPE)
    assert eventually(lambda: fresh.run(faint) == 0), "not: every line is there again"


def test_sliders_of_the_planner_change_its_answers(fresh: Browser) -> None:
    answer = "[data-suite=ps] output[data-answer=served]"
    before = fresh.text(answer)
    fresh.run(
        "const slider = document.querySelector('[data-suite=ps] input[data-of=active]');"
        "slider.value = 8; slider.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    assert eventually(lambda: fresh.text(answer) != before), "not: the answer moves"
    assert int(fresh.text(answer).replace(",", "")) < int(before.replace(",", ""))


@pytest.mark.parametrize("width", [1_200, 390])
def test_no_element_is_wider_than_the_screen(browser: Browser, page: Path, width: int) -> None:
    browser.resize(width)
    browser.draw(page)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    overlapping = (
        "return [...document.querySelectorAll('.drawing')].filter(place =>"
        " place.querySelector('svg') && place.querySelector('svg').getBoundingClientRect().right"
        " > place.getBoundingClientRect().right + 1).map(place => place.parentNode.id)"
    )
    assert browser.run(overlapping) == []
    cut = (
        "const svg = document.querySelector('#figure-overview svg'),"
        " right = svg.getBoundingClientRect().right;"
        "return [...svg.querySelectorAll('.mark-text text')]"
        ".filter(word => word.getBoundingClientRect().right > right).map(word => word.textContent)"
    )
    assert browser.run(cut) == []


def test_collapsed_figure_of_1997_is_drawn_when_expanded(fresh: Browser) -> None:
    assert fresh.run(MARKS)["printed-ils-lookup"] == 0
    fresh.run("document.querySelector('#papers details').open = true")
    assert eventually(lambda: fresh.run(MARKS)["printed-ils-lookup"] >= 4)
