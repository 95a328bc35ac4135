"""What a program prints of a measurement."""

from dataclasses import replace

from sitebench._engine import Histogram
from sitebench.api.result import Result
from sitebench.counts.durations import Durations
from sitebench.runs.timeline import MEASURED, Slot
from sitebench.verdict.verdict import Bound
from tests.support.drains import histogram
from tests.support.evidence import changed
from tests.support.points import a_result


def test_a_percentile_of_too_few_samples_is_printed_as_none_with_their_number() -> None:
    latency = histogram()
    latency.record(50_000, 9_999)
    moment = Slot(MEASURED, 0, 10**9, latency.count, 0, latency)
    result = Result(changed(a_result(), latency=Durations.of(latency)), latency, [moment])
    assert result.percentile(99) is None
    assert "p50 50 us" in repr(result)
    assert "p99 n/a (n=9,999)" in repr(result)
    assert "n/a (n=9,999)" in result._repr_html_()


def test_lower_bounds_are_shown_as_such() -> None:
    answered, given_up = histogram(), histogram()
    answered.record(5_000_000, 10_000)
    given_up.record(10**10, 500)
    point = a_result()
    verdict = replace(point.verdict, bound=Bound.GENERATOR, valid=False)
    point = changed(point, latency=Durations.of(answered, given_up), verdict=verdict)
    result = Result(point, Histogram(), [Slot(MEASURED, 0, 10**9)])
    assert "p50 5 ms, p99 >= 10 s" in repr(result)
    shown = result._repr_html_()
    assert ", &gt;= 10 s, &gt;= 10 s" in shown
    assert "&gt;= 10,000" in shown
