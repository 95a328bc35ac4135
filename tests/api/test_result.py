"""What a program prints of a measurement."""

from sitebench.api.result import Result
from sitebench.runs.timeline import MEASURED, Slot
from tests.support.drains import histogram
from tests.support.points import a_result


def test_a_percentile_of_too_few_samples_is_printed_as_none_with_their_number() -> None:
    latency = histogram()
    latency.record(50_000, 9_999)
    moment = Slot(MEASURED, 0, 10**9, latency.count, 0, latency)
    result = Result(a_result(), latency, [moment])
    assert result.percentile(99) is None
    assert "p50 50 us" in repr(result)
    assert "p99 n/a (n=9,999)" in repr(result)
    assert "n/a (n=9,999)" in result._repr_html_()
