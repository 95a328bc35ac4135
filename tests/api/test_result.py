"""The output of a measurement in a program."""

import operator
import re

import pytest
from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.api.result import Result
from sitebench.counts.durations import Durations
from sitebench.errors import NotDecided, ObjectiveMissed, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import judge_result, missed_objectives
from sitebench.runs.point import PointResult
from sitebench.runs.timeline import MEASURED, Slot
from sitebench.verdict.verdict import Bound
from tests.docs.cli_page import ROOT
from tests.support.drains import histogram
from tests.support.evidence import changed
from tests.support.points import a_result, a_use, judged


def test_percentile_of_too_few_samples_is_printed_as_none_with_their_number() -> None:
    latency = histogram()
    latency.record(50_000, 9_999)
    moment = Slot(MEASURED, 0, 10**9, latency.count, 0, latency)
    result = Result(changed(a_result(), latency=Durations.of(latency)), latency, [moment])
    assert result.percentile(99) is None
    assert "p50 50 us" in repr(result)
    assert "p99 n/a (n=9,999)" in repr(result)
    assert "n/a (n=9,999)" in result._repr_html_()


def test_lower_bounds_are_marked_in_the_output() -> None:
    answered, given_up = histogram(), histogram()
    answered.record(5_000_000, 10_000)
    given_up.record(10**10, 500)
    point = a_result()
    verdict = replace(point.verdict, bound=Bound.GENERATOR, valid=False)
    point = changed(point, latency=Durations.of(answered, given_up), verdict=verdict)
    result = result_of(point)
    assert "p50 5 ms, p99 >= 10 s" in repr(result)
    shown = result._repr_html_()
    assert ", &gt;= 10 s, &gt;= 10 s" in shown
    assert "&gt;= 10,000" in shown


def result_of(point: PointResult) -> Result:
    return Result(point, Histogram(), [Slot(MEASURED, 0, 10**9)])


def test_result_that_meets_its_objective_passes() -> None:
    result_of(a_result()).check("p99<5ms,failures<0.1%,rate>=9k")


def test_missed_objective_has_the_message_of_the_command_line() -> None:
    point, objective = a_result(), "p99<10us,failures<0.1%"
    with pytest.raises(ObjectiveMissed) as found:
        result_of(point).check(objective)
    lines = missed_objectives([judge_result(point, Objective.parse(objective))])
    assert [found.value.message] == lines
    assert lines == ["missed: lookup at 1k, 64 clients: p99 is 50 us (asked: p99<10us)"]
    assert point.verdict.evidence in found.value.remedy


def test_too_few_samples_leave_objective_undecided_and_propose_a_window() -> None:
    """5,000 samples in 2 s: 10,000 need 4 s, and a tenth more for chance."""
    with pytest.raises(NotDecided) as found:
        result_of(a_result(count=5_000)).check("p50<1ms,p99<5ms")
    assert found.value.message.endswith(
        "p99 is not known (asked: p99<5ms): 5,000 samples are too few, it needs 10,000: "
        "measure for 5s"
    )
    assert found.value.remedy.startswith("raise measure_s, or ")
    result_of(a_result(count=11_000)).check("p50<1ms,p99<5ms")


def test_one_broken_term_misses_the_objective_despite_unknown_terms() -> None:
    with pytest.raises(ObjectiveMissed, match=r"p50 is 50 us .*; p99 is not known"):
        result_of(a_result(count=5_000)).check("p50<1us,p99<5ms")


def test_objective_on_an_unmeasurable_metric_is_undecided_without_advice() -> None:
    blind = replace(a_result(), use=a_use(target_cpu_s=None))
    with pytest.raises(NotDecided, match="leave this condition out of the objective"):
        result_of(blind).check("cpu<50%")


def test_generator_bound_point_leaves_objective_undecided() -> None:
    point = a_result()
    with pytest.raises(NotDecided, match=r"^invalid: lookup at 1k, 64 clients: generator: "):
        result_of(judged(point, bound=Bound.GENERATOR, valid=False)).check("p99<5ms")


def test_invalid_objective_raises_bad_input() -> None:
    with pytest.raises(UnknownValue, match="character 1: unknown metric 'p98'"):
        result_of(a_result()).check("p98<5ms")


def test_print_names_the_kinds_of_failures() -> None:
    point = replace(a_result(), failures_by_kind={"timeout": 2, "wrong-answer": 7})
    assert ", 9 failures (wrong-answer x 7, timeout x 2), bound by" in repr(result_of(point))


def test_documentation_page_lists_the_attributes_of_a_result() -> None:
    page = (ROOT / "docs/python-api.md").read_text()
    section = page.partition("## The result")[2].partition("##")[0]
    slot = Slot(MEASURED, 0, 10**9)
    result = Result(a_result(), Histogram(), [slot])
    names = re.findall(r"`result\.([\w.]+)", section)
    assert len(names) > 8
    for name in names:
        assert operator.attrgetter(name)(result) is not None, name
    fields = re.search(r"\| `result.timeline` \| (.+) \|\n", section)
    assert fields is not None
    slot_names = re.findall(r"`(\w+)(?:\(\d+\))?`", fields[1])
    assert set(slot_names) >= {"phase", "seconds", "count", "failures", "percentile"}
    for name in slot_names:
        assert hasattr(slot, name), name
