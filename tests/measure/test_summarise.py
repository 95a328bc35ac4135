import pytest
from msgspec import structs
from msgspec.structs import replace

from sitebench.counts.metrics import BYTES_OUT, PAUSED, THINKING
from sitebench.counts.steady import Steadiness
from sitebench.scenario.script import Pool
from sitebench.verdict.warning import WarningKind
from tests.support.drains import histogram
from tests.support.points import a_spec, a_tally, a_use, summarised

SECOND = 1_000_000_000


def test_service_time_of_unanswered_operations_is_the_wait_since_sending() -> None:
    # The operation waited a minute for a lane, and 10 s for its answer.
    tally = a_tally(count=100)
    (step,) = tally.due.values()
    step.clocks["censored"] = histogram(70 * SECOND)
    step.clocks["abandoned"] = histogram(10 * SECOND)
    result = summarised(tally, a_spec(rate=10))
    (lookup,) = result.steps
    for clock, seconds in (
        (result.clocks["latency"], 70),
        (result.clocks["service"], 10),
        (lookup.clocks["service"], 10),
    ):
        assert abs((clock.max or 0.0) / 1e6 - seconds) < 0.1
        assert "max" in clock.at_least


@pytest.mark.parametrize(("places", "bound"), [(5, "pool"), (6, "undecided")])
def test_occupancy_of_a_pool_is_rate_times_service_time(places: int, bound: str) -> None:
    # 100,000/s of 50 us are 5 requests in flight.
    rows = (("lookup", "lookup"), ("lookup", "not done"))
    quiet = a_use()
    assert quiet.target is not None
    quiet = structs.replace(quiet, target=replace(quiet.target, cpu_s=0.5))
    pools = [Pool("main", places, rows)]
    verdict = summarised(a_tally(count=200_000), use=quiet, pools=pools).verdict
    assert verdict.bound == bound, verdict.evidence


def test_thinking_operations_are_counted_apart_from_ended_ones() -> None:
    tally = a_tally(count=100)
    (step,) = tally.due.values()
    step.counters[THINKING], step.counters[PAUSED] = 7, 100 * 300_000
    result = summarised(tally)
    assert (result.operations, result.failures, result.counters[THINKING]) == (100, 0, 7)
    found = result.to_json()
    assert (found["thinking"], found["paused_us"]) == (7, 300)
    assert result.counters[BYTES_OUT] == 104 * 100


@pytest.mark.parametrize(
    ("warmup_s", "think_s", "valid"), [(2.0, 4.0, False), (4.0, 4.0, True), (0.0, 0.01, True)]
)
def test_warm_up_shorter_than_the_think_time_is_too_short(
    warmup_s: float, think_s: float, *, valid: bool
) -> None:
    tally = a_tally(seconds=6.0)
    (step,) = tally.due.values()
    step.counters[PAUSED] = round(step.count * think_s * 1e9)
    result = summarised(tally, a_spec(rate=50, warmup_s=warmup_s))
    assert (result.settled.state, result.verdict.valid) == (Steadiness.TOO_SHORT, valid)
    warnings = [each for each in result.verdict.warnings if each.kind == WarningKind.TOO_SHORT]
    remedies = [each.remedy for each in warnings]
    assert (remedies == ["warm up for longer: --warmup 4s"]) == (not valid)
