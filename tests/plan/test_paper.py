"""The printed rates and answers of 1997, compared with sitebench's."""

import pytest
from msgspec.structs import replace

from ils_bench.paper.plan import MIX, UNPRINTED
from ils_bench.paper.plan import PLAN as ILS
from ils_bench.paper.printed import PAPER
from ps_bench.paper.plan import PLAN as PS
from sitebench.plan.choose import plan
from sitebench.plan.model import round_half_up, solve
from sitebench.plan.render import compared_with_1997
from sitebench.plan.suite import PrintedAnswer


def test_workbook_rates_match_the_paper_except_one_row() -> None:
    smaller, larger = ILS.presets.values()
    assert list(smaller.rates["add"]) == [846, 864, 857, 840]
    assert PAPER.tables["add"]["ProLiant 2500"]["ops_per_s"] == [815, 718, 844, 741]
    assert list(larger.rates["add"]) == [1_276, 1_360, 1_328, 941]
    assert smaller.rates_at(10_000) == {"connect": 462, "add": 840, "lookup": 900}


def test_site_rates_match_tables_13_and_14() -> None:
    assert [table.rates["pages"] for table in PS.presets.values()] == [
        (49.6, 43.5, 37.2, 32.1),
        (63.0, 57.3, 51.8, 47.1),
    ]


def test_answers_equal_the_papers_for_the_site_and_not_for_the_directory() -> None:
    assert [each["differs"] for each in compared_with_1997(PS)] == [False]
    ours = [
        (each["simultaneous"], each["community"], each["differs"])
        for each in compared_with_1997(ILS)
    ]
    assert ours == [(119_741, 2_993_521, True), (188_081, 4_702_016, True)]


def test_no_mix_of_the_printed_rates_can_give_both_printed_answers() -> None:
    # An answer is inversely proportional to a sum of n / rate. If the terms of two such sums differ
    # by at most some factor, the sums differ by at most that factor, for any n and any columns.
    less, more = ILS.presets.values()
    apart = max(
        high / low
        for name in less.rates
        for low in less.rates[name]
        for high in more.rates[name]
        if low and high
    )
    printed = [each.community for each in ILS.printed]
    assert apart == pytest.approx(806 / 449)
    assert printed[1] / printed[0] > apart


@pytest.mark.parametrize("printed", ILS.printed, ids=lambda each: str(each.preset))
def test_one_unprinted_operation_would_give_the_printed_answers(printed: PrintedAnswer) -> None:
    rate, size = UNPRINTED[printed.preset]
    rates = {**ILS.presets[printed.preset].rates_at(size), "retrieve": rate}
    scenario = replace(ILS.scenario, mix={**MIX, "retrieve": 1.0})
    values = solve(scenario, rates)
    ours = round_half_up(values["simultaneous"]), round_half_up(values["served"])
    assert ours == (printed.simultaneous, printed.community)


def test_no_plan_uses_the_unprinted_operation() -> None:
    made = plan(ILS, ILS.scenario, ILS.presets["paper-2500"], ILS.size)
    assert not any("retrieve" in key for key in made.values)
