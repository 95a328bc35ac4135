"""A result from the counts of a window."""

from dataclasses import replace

import pytest

from sitebench.measure.summarise import summarise
from sitebench.scenario.script import Pool
from tests.support.drains import histogram
from tests.support.points import a_spec, a_tally, a_use

SECOND = 1_000_000_000


def test_service_time_ranks_what_was_never_answered_by_its_wait_since_it_was_sent() -> None:
    # It waited a minute for a lane, and 10 s for its answer.
    tally = a_tally(count=100)
    (step,) = tally.due.values()
    step.clocks["censored"], step.clocks["abandoned"] = (
        histogram(70 * SECOND),
        histogram(10 * SECOND),
    )
    counts = [("lookup", "lookup")]
    result = summarise(a_spec(rate=10), tally, counts, a_use(), target_cores=1, native=True)
    (lookup,) = result.steps
    for clock, seconds in (
        (result.clocks["latency"], 70),
        (result.clocks["service"], 10),
        (lookup.clocks["service"], 10),
    ):
        assert clock.max is not None
        assert abs(clock.max / 1e6 - seconds) < 0.1
        assert "max" in clock.at_least


@pytest.mark.parametrize(("places", "bound"), [(5, "pool"), (6, "undecided")])
def test_places_of_a_pool_are_full_by_rate_times_service_time(places: int, bound: str) -> None:
    # 100,000/s of 50 us are 5 requests in flight.
    rows = (("lookup", "lookup"), ("lookup", "not done"))
    quiet = a_use()
    assert quiet.target is not None
    quiet = replace(quiet, target=replace(quiet.target, cpu_s=0.5))
    result = summarise(
        a_spec(),
        a_tally(count=200_000),
        [("lookup", "lookup")],
        quiet,
        target_cores=1,
        native=True,
        pools=[Pool("main", places, rows)],
    )
    assert result.verdict.bound == bound, result.verdict.evidence
