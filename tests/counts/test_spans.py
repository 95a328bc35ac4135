"""The operations due in each span of stages, whenever they were answered."""

from collections import Counter

from sitebench._engine import Histogram
from sitebench.counts.metrics import CENSORED, LAG, LATENCY, THINKING
from sitebench.counts.source import StepTotals
from sitebench.counts.spans import Span, SpanCounts
from sitebench.counts.stages import Stages
from tests.support.drains import Drain

STEP = ("lookup", "lookup")
STAGES = Stages.parse("2s:200,1s:200")


def _did(n: int, ms: int, *, failed: int = 0, step: tuple[str, str] = STEP) -> StepTotals:
    totals = StepTotals(*step, count=n, failures=Counter({"timeout": failed} if failed else {}))
    totals.clocks[LATENCY].record(ms * 1_000_000, n - failed)
    totals.clocks[LAG].record(1_000_000, n - failed)
    totals.clocks[CENSORED].record(10_000_000_000, failed)
    return totals


def _spans(*drains: list[tuple[int, StepTotals]], stages: Stages = STAGES) -> list[Span]:
    """Return the spans of stages after some drains."""
    counts = SpanCounts()
    for drained in drains:
        counts.add(drained)
    return [*counts.spans(stages, [STEP])]


def test_spans_of_successive_drains_are_added() -> None:
    first, second, third = _spans(
        [(0, _did(40, 1)), (1, _did(100, 2))], [(1, _did(50, 1_500)), (2, _did(200, 3))]
    )
    assert [each.operations for each in (first, second, third)] == [40, 150, 200]
    assert [each.asked for each in (first, second, third)] == [50, 150, 200]
    assert (second.latency_us.n, second.lag_us.n) == (150, 150)
    assert round((second.latency_us.max or 0) / 1e6, 1) == 1.5
    assert round((first.latency_us.max or 0) / 1e6, 1) == 0.0


def test_abandoned_operations_are_lower_bounds_and_not_answered() -> None:
    *_, last = _spans([(2, _did(400, 5, failed=300))])
    assert (last.operations, last.failures, last.answered_per_s) == (400, 300, 100)
    assert (last.latency_us.p50 or 0.0) > 9e6
    assert "p50" in last.latency_us.at_least


def test_thinking_operations_count_as_arrivals_of_their_span() -> None:
    alone = StepTotals(*STEP)
    alone.counters[THINKING] = 3
    first, second, _ = _spans([(0, _did(40, 1, failed=10)), (0, alone), (1, alone)])
    assert (first.operations, first.thinking, first.answered_per_s) == (43, 3, 30)
    assert (second.operations, second.thinking, second.failures) == (3, 3, 0)
    assert first.to_json()["thinking"] == 3


def test_step_due_after_the_stages_belongs_to_no_span() -> None:
    spans = _spans([(2, _did(40, 1)), (3, _did(7, 1))])
    assert [span.operations for span in spans] == [0, 0, 40]


def test_only_counted_steps_belong_to_spans() -> None:
    spans = _spans([(0, _did(40, 1)), (0, _did(7, 1, step=("lookup", "other")))])
    assert [span.operations for span in spans] == [40, 0, 0]


def test_operations_due_in_a_short_remainder_belong_to_the_last_span() -> None:
    (only,) = _spans([(0, _did(1, 1)), (1, _did(1, 1))], stages=Stages.parse("1s:1,1ms:5"))
    assert (only.operations, only.seconds) == (2, 1.001)


def test_early_end_reduces_the_expected_arrivals() -> None:
    counts = SpanCounts()
    counts.add([(0, _did(50, 1)), (1, _did(75, 1))])
    first, second = counts.spans(STAGES, [STEP], 1.5)
    assert (first.asked, first.operations, first.seconds) == (50, 50, 1)
    assert (second.asked, second.operations, second.seconds) == (62.5, 75, 0.5)


def test_adding_a_record_to_a_span_does_not_change_the_record() -> None:
    record = _did(40, 1)
    _spans([(0, record)], [(0, record)])
    assert record.clocks[LATENCY].count == 40
    assert isinstance(record.clocks[LATENCY], Histogram)


def test_span_is_serialised_with_offered_and_answered_rates() -> None:
    one = [(0, _did(40, 1))]
    written = _spans(one)[0].to_json()
    assert written["asked_per_s"] == 50
    assert written["answered_per_s"] == 40
    longer, *_ = _spans(one, [(0, _did(60, 1, failed=10))], stages=Stages.parse("1m:120"))
    assert (longer.seconds, longer.asked_per_s, longer.answered_per_s) == (5, 5, 18)
    assert {"latency_us", "lag_us", "begin_s", "seconds"} <= written.keys()


def test_span_is_late_if_a_thread_has_two_operations_waiting() -> None:
    """A single operation may have become due at the moment at which its thread was drained."""
    counts = SpanCounts(STAGES.span_s)
    for number, backlog in enumerate((2, 3, 0)):
        began_ns, ended_ns = number * 1_000_000_000, (number + 1) * 1_000_000_000
        drained = Drain(began_ns, ended_ns, lanes=4, backlog=backlog, in_flight=1)
        counts.add_tester(drained, 0, [0.1, 0.1])
    late = [span.tester_late for span in counts.spans(STAGES, [STEP])]
    assert late == [0.0, 1.0, 0.0]
