"""The page in a real browser without a network: all charts drawn, no error, both sides."""

import html
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.compare.page import comparison_page
from sitebench.compare.runs import Comparison, compare_runs, read_run
from tests.compare.made import interleaved, noisy
from tests.support.browser import Browser, browsing
from tests.support.points import a_spec
from tests.support.programs import required_program
from tests.support.waiting import eventually

TARGET = "<b>ldap://x</b>"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("page")
    runs = {}
    for side, rate, seed in (("a", 15_000, 1), ("b", 14_000, 2)):
        adds, facts = (a_spec("add"), noisy(10, 9_000, seed + 2)), {"value": TARGET + side}
        lookups = noisy(10, rate, seed)
        path = interleaved(folder / side, lookups, side, a_spec(), adds, facts=facts)
        runs[side] = read_run(path)
    return compare_runs(runs["a"], runs["b"])


@pytest.fixture(scope="module")
def browser(compared: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "compared.html"
    page.write_text(comparison_page(compared), encoding="utf-8")
    with browsing(required_program("chromedriver"), folder) as opened:
        opened.draw(page)
        yield opened


def texts(browser: Browser, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    return list(browser.run(script, selector))


def test_every_chart_of_a_comparison_is_drawn(browser: Browser) -> None:
    states = "return [...document.querySelectorAll('figure.chart')].map(f => f.dataset.state)"
    assert browser.run(states) == ["drawn"] * 3
    marks = "return document.querySelectorAll(arguments[0] + ' .role-mark.mark-symbol path').length"
    assert browser.run(marks, "#figure-ratios") == 24  # two points, six measures, with nulls
    assert browser.run(marks, "#figure-repeats") == 20  # ten repeats of both sides
    assert browser.run(marks, "#figure-spectra") > 20


def test_verdict_of_a_comparison_comes_first_in_words(browser: Browser) -> None:
    first, second = texts(browser, "#answer .headline")
    assert first.startswith("Slower lookup at 1k, 64 users: B is slower: -6.")
    assert second.startswith("No difference add at 1k, 64 users: no detectable difference")
    assert "-6." in texts(browser, "#answer table")[0]


def test_reader_can_choose_the_compared_measure_on_the_page(browser: Browser) -> None:
    before = browser.run("return document.querySelector('#figure-repeats svg').outerHTML")
    browser.run(
        "const list = document.getElementById('choose-repeats'); list.value = 'p1-p99';"
        "list.dispatchEvent(new Event('change'))"
    )
    now = "return document.querySelector('#figure-repeats svg').outerHTML"
    assert eventually(lambda: browser.run(now) != before)


def test_page_head_has_address_command_date_and_machine(compared: Comparison) -> None:
    command = ["sitebench", "ils", "run", "--target", "ldap://a b"]
    restart = {"restart": "./switch {}"}
    facts = {"command": command, "started": "2026-11-28T17:36:00+00:00", "compared": restart}
    sides = [replace(run, manifest={**run.manifest, **facts}) for run in (compared.a, compared.b)]
    page = comparison_page(replace(compared, a=sides[0], b=sides[1]))
    head = html.unescape(page.partition("<h1>")[2].partition("</header>")[0])
    for fact in ("embedded", "28 November 2026, 17:36 UTC", "a processor, 2 cores"):
        assert head.count(fact) == 2, head
    assert head.count("sitebench ils run --target 'ldap://a b' · --restart './switch {}'") == 2


def test_page_escapes_names_and_loads_no_resources(browser: Browser, compared: Comparison) -> None:
    assert TARGET + "b" in texts(browser, "h1")[0]
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    page = comparison_page(compared)
    assert len(page.encode()) < 2_000_000
    assert "<b>ldap" not in page


def test_comparison_without_comparable_points_has_no_charts(tmp_path: Path) -> None:
    a = interleaved(tmp_path / "a", noisy(8, 15_000, 1), "a", spoiled=range(8))
    b = interleaved(tmp_path / "b", noisy(8, 15_000, 2), "b")
    page = comparison_page(compare_runs(read_run(a), read_run(b)))
    assert "not compared" in page
    assert "data-chart" not in page
