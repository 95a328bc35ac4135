"""The planner of a page, operated in a browser."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ils_bench.paper.plan import MIX
from ils_bench.paper.plan import PLAN as ILS
from sitebench.plan.model import Scenario, solve
from sitebench.plan.page import planner_fragment
from sitebench.plan.rates import RateTable, Remark
from sitebench.plan.suite import plan_suites
from tests.support.browser import Browser, browsing

TODAY = RateTable(
    "today's </script>",
    (10_000, 100_000),
    {"connect": (9_000.0, 8_000.0), "add": (21_000.0, None), "lookup": (33_000.0, 31_000.0)},
)
OF_THE_PAPERS: Mapping[str, Sequence[RateTable]] = {each.name: () for each in plan_suites()}
RATES: Mapping[str, Sequence[RateTable]] = {
    **OF_THE_PAPERS,
    "ils": [TODAY],
    "ps": [RateTable("embedded", (100_000,), {"pages": (1_234.5,)})],
}

SET = """
const [suite, name, value] = arguments;
const root = document.querySelector(`.plan-suite[data-suite=${suite}]`);
const field = root.querySelector(name.startsWith('[') ? name : `[name="${name}"]`);
field.value = value;
field.dispatchEvent(new Event('input', {bubbles: true}));
return field.value;
"""
READ = """
const cells = document.querySelectorAll(`.plan-suite[data-suite=${arguments[0]}] output`);
return JSON.stringify(Object.fromEntries([...cells].map(
    (cell) => [cell.dataset.answer, [cell.value, cell.dataset.value]])));
"""


def page(path: Path, rates: Mapping[str, Sequence[RateTable]] = RATES) -> str:
    # A page that may load no resource, and whose errors are recorded.
    body, script = planner_fragment(rates)
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>plan</title>'
        '<meta http-equiv="Content-Security-Policy"'
        " content=\"default-src 'none'; script-src 'unsafe-inline'\">"
        "<script>window.errors = []; addEventListener('error', (e) => errors.push(e.message));"
        "addEventListener('securitypolicyviolation', (e) => errors.push(e.blockedURI));</script>"
        f"</head><body>{body}<script>{script}</script></body></html>"
    )
    return path.as_uri()


def put(browser: Browser, suite: str, name: str, value: object) -> str:
    return str(browser.run(SET, suite, name, str(value)))


def answers(browser: Browser, suite: str) -> dict[str, tuple[str, float | None]]:
    found = json.loads(browser.run(READ, suite))
    return {key: (text, float(value) if value else None) for key, (text, value) in found.items()}


@pytest.fixture(scope="module")
def window(chromedriver: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, because its start takes most of the time."""
    with browsing(chromedriver, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def browser(window: Browser, tmp_path: Path) -> Iterator[Browser]:
    """A browser that shows the planner in its initial state."""
    window.open(page(tmp_path / "plan.html"))
    yield window
    assert window.run("return window.errors") == []


def exactly(browser: Browser, suite: str, values: dict[str, float]) -> None:
    shown = {key: value for key, (_, value) in answers(browser, suite).items()}
    assert shown == {key: values[key] for key in shown}


def test_initial_answers_of_the_page_match_the_model(browser: Browser) -> None:
    directory = Scenario(0.04, 1_200.0, MIX, community=1_000_000)
    exactly(browser, "ils", solve(directory, TODAY.rates_at(10_000)))
    exactly(browser, "ps", solve(Scenario(0.04, 25.0, community=1_000_000), {"pages": 1_234.5}))


def test_answers_after_moving_a_slider_match_the_model(browser: Browser) -> None:
    for percent, seconds in (("12.5", "7"), ("0.1", "120"), ("20", "1")):
        assert put(browser, "ps", "[data-of=active]", percent) == percent
        assert put(browser, "ps", "[data-of=view_s]", seconds) == seconds
        scenario = Scenario(float(percent) / 100, float(seconds), community=1_000_000)
        exactly(browser, "ps", solve(scenario, {"pages": 1_234.5}))
    put(browser, "ils", "[data-of=n_lookup]", "31")
    put(browser, "ils", "[data-of=community]", "7")
    scenario = Scenario(0.04, 1_200.0, {**MIX, "lookup": 31.0}, community=10_000_000)
    exactly(browser, "ils", solve(scenario, TODAY.rates_at(10_000)))


def test_answers_for_any_typed_numbers_match_the_model(browser: Browser) -> None:
    dice = random.Random(1997)
    for _ in range(15):
        percent, minutes = round(dice.uniform(0.1, 100), 2), round(dice.uniform(0.5, 500), 1)
        mix = {name: round(dice.uniform(0, 20), 1) for name in ("connect", "add")} | {"lookup": 3.5}
        free, community = round(dice.uniform(0, 90), 1), dice.randrange(1, 10**9)
        limit = dice.choice([100, 37.5])
        typed = {
            "active": percent,
            "session_s": minutes,
            "headroom": free,
            "community": community,
            **{f"n_{name}": number for name, number in mix.items()},
            "queue_limit": limit,
            "burst": 150,
        }
        for name, value in typed.items():
            put(browser, "ils", name, value)
        # The capacity that an objective leaves free acts like headroom, if it is more.
        free = max(free / 100, 1 - limit / 100)
        scenario = Scenario(percent / 100, minutes * 60, mix, free, community, burst=1.5)
        exactly(browser, "ils", solve(scenario, TODAY.rates_at(10_000)))


def test_objective_on_the_page_is_estimated_as_in_the_model(browser: Browser) -> None:
    for name, value in {"objective_s": 250.5, "cores": 3, "community": 500_000}.items():
        put(browser, "ps", name, value)
    scenario = Scenario(0.04, 25.0, None, 0.0, 500_000, (0.99, 0.2505), 3)
    exactly(browser, "ps", solve(scenario, {"pages": 1_234.5}))


def test_choice_of_another_machine_sets_its_sizes_and_rates(browser: Browser) -> None:
    # The machines of 1997 are listed after today's.
    put(browser, "ils", "machine", "2")
    put(browser, "ils", "size", "0")
    scenario = Scenario(0.04, 1_200.0, MIX, community=1_000_000)
    exactly(browser, "ils", solve(scenario, ILS.presets["paper-7000"].rates_at(500)))
    put(browser, "ps", "machine", "1")
    assert answers(browser, "ps")["simultaneous"] == ("803", 802.5)  # With a million people.
    put(browser, "ps", "size", "1")
    assert answers(browser, "ps")["simultaneous"] == ("1,088", 1_087.5)
    assert answers(browser, "ps")["served"] == ("27,188", 27_187.5)


def test_page_uses_the_measured_size_that_fits_the_community_and_marks_bounds(
    window: Browser, tmp_path: Path
) -> None:
    rates = {"connect": (9_000.0, 8_000.0), "add": (21_000.0, 19_000.0), "lookup": (3e4, 2e4)}
    bound = Remark("add", 100_000, "a lower bound: other programs had the cores")
    table = RateTable("today's", (1_000, 100_000), rates, (bound,))
    window.open(page(tmp_path / "plan.html", {**RATES, "ils": [table]}))
    warning = ".plan-suite[data-suite=ils] .plan-warning"
    for community, size in ((10_000, 1_000), (1_000_000, 100_000)):
        put(window, "ils", "community", community)
        scenario = Scenario(0.04, 1_200.0, MIX, community=community)
        exactly(window, "ils", solve(scenario, table.rates_at(size)))
        is_marked = "add at 100k: a lower bound" in window.text(warning)
        assert is_marked == (size == 100_000)
    put(window, "ils", "size", "0")
    put(window, "ils", "community", 2_000_000)
    scenario = Scenario(0.04, 1_200.0, MIX, community=2_000_000)
    exactly(window, "ils", solve(scenario, table.rates_at(1_000)))


def test_page_warns_of_questions_without_an_answer(browser: Browser) -> None:
    warning = ".plan-suite[data-suite=ils] .plan-warning"
    put(browser, "ils", "size", "1")  # Adds were not measured there.
    missing = {key for key, (text, _) in answers(browser, "ils").items() if text == "n/a"}
    assert missing == {"simultaneous", "served", "machines", "busy"}
    assert "No answer" in browser.text(warning)
    put(browser, "ils", "n_add", "0")
    assert answers(browser, "ils")["machines"][0] == "1"
    for name, value in (("active", "0"), ("active", ""), ("active", "101")):
        put(browser, "ils", name, value)
        assert answers(browser, "ils")["machines"][0] == "n/a", value
    put(browser, "ps", "objective_s", "0.0001")
    assert "idle machine" in browser.text(warning.replace("ils", "ps"))


def test_every_input_has_a_label_and_works_by_keyboard(browser: Browser) -> None:
    unnamed = """
    return [...document.querySelectorAll('.plan-suite input, .plan-suite select')].filter(
        (field) => !field.labels.length && !field.getAttribute('aria-label') ||
            field.tabIndex < 0).length
    """
    assert browser.run(unnamed) == 0
    ids = "return [...document.querySelectorAll('[id]')].map((each) => each.id)"
    assert len(set(browser.run(ids))) == len(browser.run(ids)) > 10


def test_page_without_script_has_the_answers_of_the_plan() -> None:
    fragment, _ = planner_fragment(OF_THE_PAPERS)
    assert '<output data-answer="simultaneous">1,088</output>' in fragment
    assert '<output data-answer="served">27,188</output>' in fragment
    assert "http" not in fragment
    assert len(fragment) < 40_000


def test_names_of_operations_are_inserted_as_text_in_the_page() -> None:
    name = "\"><img></script><script>alert('1')"
    body, script = planner_fragment({"ils": [RateTable("today", (100,), {name: (1.0,)})]})
    assert "alert" in body
    assert "alert" in script
    assert "<img" not in body
    assert "<script" not in body
    assert "</script" not in script
