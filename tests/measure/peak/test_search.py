"""The search for the highest rate that meets an objective, on invented targets."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from sitebench.counts.durations import Durations
from sitebench.counts.metrics import LAG, LATENCY, SERVICE
from sitebench.measure.objective import Objective
from sitebench.measure.peak import search as peak
from sitebench.measure.peak.search import Answer, Reply, SearchPlan, Trial, reply_of
from sitebench.runs.point import PointResult
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import PointWarning, WarningKind
from tests.support.drains import histogram
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec, a_tally, a_use, judged, summarised

Target = Callable[[Trial], Reply]
START = SearchPlan(start=100, users=64, most_users=1024)


@dataclass
class Walk:
    found: peak.HighestRate
    trials: list[Trial] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        return [trial.rate for trial in self.trials]

    @property
    def rate(self) -> float:
        """The highest rate that held, or 0 if none did."""
        return self.found.rate or 0.0

    @property
    def ceiling(self) -> peak.Ceiling:
        assert self.found.ceiling is not None
        return self.found.ceiling


def walk(target: Target, plan: SearchPlan = START) -> Walk:
    going, trials = peak.search(plan), []
    trial = next(going)
    while True:
        trials.append(trial)
        assert len(trials) < 200, "it never ends"
        try:
            trial = going.send(target(trial))
        except StopIteration as end:
            return Walk(end.value, trials)


def holds_to(limit: float, above: Answer = Answer.BROKE) -> Target:
    """A target that holds every rate up to its limit, and answers `above` beyond it."""

    def answer(trial: Trial) -> Reply:
        if trial.rate <= limit:
            return Reply(Answer.HELD, trial.rate, "fine")
        return Reply(above, limit, "too slow")

    return answer


@given(st.floats(7, 1e6), st.sampled_from([0.02, 0.05, 0.2]))
@settings(deadline=None)
def test_limit_is_enclosed_to_the_requested_precision(limit: float, precision: float) -> None:
    went = walk(holds_to(limit), replace(START, precision=precision))
    assert went.ceiling.sure
    assert 0 < went.rate <= limit < went.ceiling.rate
    # Rates have three digits, which may be slightly coarser.
    assert went.ceiling.rate / went.rate <= 1 + precision + 0.011


def test_search_first_raises_the_rate_then_bisects_then_holds_and_confirms() -> None:
    went = walk(holds_to(700))
    assert went.rates[:4] == [100, 200, 400, 800]
    assert went.rates[4:7] == [600, 700, 750]
    assert went.rates[7:] == [725, 700, 700, 700, 725]
    assert [trial.long for trial in went.trials[-5:]] == [False, True, True, True, True]
    # A probe never counts as a hold, even if both windows have the same length.
    assert [trial.repeat for trial in went.trials[-5:]] == [0, 1, 2, 3, 1]


def test_too_high_start_rate_is_lowered() -> None:
    went = walk(holds_to(30))
    assert went.rates[:3] == [100, 50, 25]
    assert 28 <= went.rate <= 30


def test_target_that_fails_at_every_rate_has_no_sustained_rate() -> None:
    went = walk(holds_to(1))
    assert went.rates == [100, 50, 25, 12.5, 6.25]
    assert went.found.rate is None
    assert went.found.limit_known


def test_limit_of_the_target_is_unknown_beyond_the_limit_of_the_generator() -> None:
    found = walk(holds_to(5_000, above=Answer.TESTER)).found
    assert not found.limit_known
    assert found.rate == pytest.approx(5_000, rel=0.05)


def test_generator_limited_at_every_rate_leaves_the_targets_limit_unknown() -> None:
    found = walk(holds_to(1, above=Answer.TESTER)).found
    assert found.rate is None
    assert not found.limit_known


def test_target_that_breaks_below_the_generator_limit_has_its_own_limit() -> None:
    def answer(trial: Trial) -> Reply:
        if trial.rate > 1_000:
            return Reply(Answer.TESTER, 900, "the load generator could not")
        return holds_to(700)(trial)

    found = walk(answer).found
    assert found.limit_known
    assert found.rate == 700


def test_rate_held_only_briefly_is_replaced_by_a_lower_rate() -> None:
    def answer(trial: Trial) -> Reply:
        return holds_to(650 if trial.long else 1_000)(trial)

    went = walk(answer)
    assert 600 < went.rate <= 650
    assert went.ceiling.sure
    # The rate that broke during its hold is the upper end, without another confirmation.
    assert went.rates[-1] == went.rate


def test_one_broken_hold_of_three_lowers_the_rate() -> None:
    held: Counter[float] = Counter()

    def answer(trial: Trial) -> Reply:
        held[trial.rate] += trial.long
        third = trial.long and held[trial.rate] == 3 and trial.rate > 600
        return Reply(Answer.BROKE, trial.rate, "once") if third else holds_to(700)(trial)

    went = walk(answer)
    assert 0 < went.rate <= 600 < went.ceiling.rate


def test_rate_broken_by_chance_reopens_the_search() -> None:
    seen = 0

    def answer(trial: Trial) -> Reply:
        nonlocal seen
        seen += trial.rate == 800
        hiccup = trial.rate == 800 and seen == 1
        lower = holds_to(760 if not seen else 3_000)
        return Reply(Answer.BROKE, 700, "hiccup") if hiccup else lower(trial)

    assert walk(answer).rate > 800


def test_unconfirmed_ceiling_is_no_end_of_an_interval() -> None:
    def answer(trial: Trial) -> Reply:
        # All long windows hold: only short probes break.
        return holds_to(10_000 if trial.long else 300)(trial)

    went = walk(answer)
    assert went.rate > 0
    assert not went.ceiling.sure


CAPACITY = 10_000.0
SHAPES: dict[str, Callable[[float], float]] = {
    "one queue": lambda busy: 1 / (1 - min(busy, 0.9999)),
    "steeper and steeper": lambda busy: math.exp(3 * busy),
    "a straight line": lambda busy: 1 + 2 * busy,
}
"""The p99 of a target by its utilisation."""


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("limit", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_reported_rate_is_at_most_the_limit_in_95_of_100_searches(
    shape: Callable[[float], float], limit: float, noise: float
) -> None:
    """At most five of a hundred searches end above the limit by more than the precision.

    The p99 of a long window varies by `noise`, and that of a window of a third by the root of three
    times as much.
    """
    draw = random.Random(1997)

    def answer(trial: Trial) -> Reply:
        spread = noise if trial.long else noise * math.sqrt(3)
        p99 = shape(trial.rate / CAPACITY) * math.exp(draw.gauss(0, spread))
        held = p99 < shape(limit) and trial.rate < CAPACITY
        return Reply(Answer.HELD if held else Answer.BROKE, trial.rate, "")

    rates = [walk(answer).rate for _ in range(200)]
    assert sum(rate > 1.05 * limit * CAPACITY for rate in rates) <= 0.05 * len(rates)


@pytest.mark.parametrize("noise", [0.1, 0.2])
@pytest.mark.parametrize("lasts_s", [120.0, 600.0])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_reported_rate_holds_under_noise_if_holds_are_far_apart(
    shape: Callable[[float], float], lasts_s: float, noise: float
) -> None:
    """The p99 wanders with this time constant (AR(1)), and that of a window is off by a twentieth.

    A window is 10 s with 2 s of warm-up, and a hold has three windows.
    """
    plan, above = replace(START, apart_s=2 * lasts_s), 0
    for seed in range(200):
        draw = random.Random(f"{seed} {lasts_s} {noise}")
        slow = draw.gauss(0, noise)

        def answer(trial: Trial, draw: random.Random = draw) -> Reply:
            nonlocal slow
            kept = math.exp(-(trial.apart_s + (32 if trial.long else 12)) / lasts_s)
            slow = kept * slow + draw.gauss(0, noise * math.sqrt(1 - kept * kept))
            off = draw.gauss(slow, 0.05 if trial.long else 0.05 * math.sqrt(3))
            held = shape(trial.rate / CAPACITY) * math.exp(off) < shape(0.5)
            held &= trial.rate < CAPACITY
            return Reply(Answer.HELD if held else Answer.BROKE, trial.rate, "")

        above += walk(answer, plan).rate > 1.05 * 0.5 * CAPACITY
    assert above <= 0.05 * 200


def test_only_holds_of_one_rate_are_spaced_by_the_requested_time() -> None:
    went = walk(holds_to(700), replace(START, apart_s=600))
    assert went.rates[7:] == [725, 700, 700, 700, 725]
    assert [trial.apart_s for trial in went.trials] == [0] * 9 + [600, 600, 0]


def test_search_ends_for_a_target_that_breaks_at_random() -> None:
    draw = random.Random(1997)
    for _ in range(50):
        walk(lambda trial: Reply(draw.choice(list(Answer)), trial.rate, "who knows"))


def lanes_needed(per_lane: float, limit: float = 1e9) -> Target:
    """A target with a fixed rate per lane, for any number of lanes up to a limit."""

    def answer(trial: Trial) -> Reply:
        most = min(per_lane * trial.users, limit)
        if trial.rate <= most:
            return Reply(Answer.HELD, trial.rate, "fine")
        return Reply(Answer.BROKE, most, "late", crowded=True)

    return answer


def test_busy_lanes_are_not_reported_as_limit_of_the_target() -> None:
    went = walk(lanes_needed(per_lane=10, limit=5_000))
    assert went.rate == pytest.approx(5_000, rel=0.05)
    assert went.found.users == 512
    assert went.found.limit_known


def test_doubled_lanes_without_gain_show_the_limit_of_the_target() -> None:
    went = walk(lanes_needed(per_lane=1_000, limit=700))
    assert went.found.users == 64
    assert {trial.users for trial in went.trials} == {64, 128}
    assert went.found.limit_known
    assert 650 < went.rate <= 700


def test_doubling_the_lanes_decides_nothing_at_the_limit_of_the_generator() -> None:
    def answer(trial: Trial) -> Reply:
        if trial.rate > 700 and trial.users > 64:
            return Reply(Answer.TESTER, 700, "the load generator could not")
        return lanes_needed(per_lane=1_000, limit=700)(trial)

    found = walk(answer).found
    assert not found.limit_known


def test_limit_of_the_generator_is_never_the_upper_end_of_the_interval() -> None:
    """The target used 91 % of its core, and 15,000 of 20,000/s were completed."""
    tally = a_tally(count=30_000)
    tally.cpu_ns = tuple(2 * 10**9 for _ in tally.cpu_ns)
    result = summarised(tally, a_spec(rate=20_000), a_use(1.82))
    assert reply_of(result, OBJECTIVE).answer is Answer.TESTER


def test_exhausted_lanes_are_a_limit_of_the_generator() -> None:
    went = walk(lanes_needed(per_lane=1))
    assert (went.found.users, went.found.limit_known) == (1024, False)
    assert "1,024 lanes are busy" in went.ceiling.reply.message


@pytest.mark.parametrize(
    ("rate", "expected"), [(12_345.6, 12_300), (0.78125, 0.781), (1, 1), (99.95, 100.0)]
)
def test_searched_rates_have_three_digits(rate: float, expected: float) -> None:
    assert peak.round_rate(rate) == expected


OBJECTIVE = Objective.parse("p99<1ms")


def test_point_holds_if_it_keeps_its_schedule_and_meets_the_objective() -> None:
    # 20,000 operations in 2 s.
    result = a_result(a_spec(rate=10_000))
    assert reply_of(result, OBJECTIVE).answer is Answer.HELD
    assert reply_of(result, Objective.parse("p99<1us")).answer is Answer.BROKE


def test_rate_with_a_missed_schedule_does_not_hold_at_any_latency() -> None:
    reply = reply_of(a_result(a_spec(rate=10_500)), OBJECTIVE)
    assert reply.answer is Answer.BROKE
    assert "10,000 of 10,500/s were done" in reply.message


def test_schedule_counts_as_kept_despite_operations_cut_off_at_window_edges() -> None:
    # 19 of 20 in 2 s: one ended before the window or after it.
    for count, answer in ((19, Answer.HELD), (16, Answer.BROKE)):
        reply = reply_of(a_result(a_spec(rate=10), count), Objective.parse("mean<1s"))
        assert reply.answer is answer


def test_slow_service_of_one_operation_breaks_a_rate_despite_late_starts() -> None:
    """More lanes would not help: the operation's own service time is judged, not that of all."""
    late, quick = histogram(), histogram()
    late.record(10**7, 20_000)
    quick.record(50_000, 20_000)
    asked = Objective.parse("p50<5ms").about_operation("lookup", 1.0)
    for service, crowded in ((quick, True), (late, False)):
        tally = a_tally(count=20_000)
        (step,) = tally.due.values()
        step.clocks[LATENCY], step.clocks[SERVICE], step.clocks[LAG] = late, service, late
        result = summarised(tally, a_spec(rate=10_000))
        reply = reply_of(replace(result, busy_lanes=float(result.spec.users)), asked)
        assert (reply.answer, reply.crowded) == (Answer.BROKE, crowded), reply


def test_rate_with_an_unknown_percentile_does_not_hold() -> None:
    assert reply_of(a_result(a_spec(rate=4_999), 9_999), OBJECTIVE).answer is Answer.BROKE


def test_rate_with_a_percentile_among_unanswered_operations_does_not_hold() -> None:
    # 1.8 % of 20,000 timed out after a second each, all others took 50 us.
    waited = histogram()
    waited.record(10**9, 360)
    tally = a_tally(count=20_000)
    (step,) = tally.due.values()
    step.clocks["censored"].add(waited)
    reply = reply_of(summarised(tally, a_spec(rate=10_000)), OBJECTIVE)
    assert reply.answer is Answer.BROKE
    assert "p99 is >= 1 s" in reply.message


@pytest.mark.parametrize(
    ("bound", "answer"),
    [
        (Bound.GENERATOR, Answer.TESTER),
        # Even if the machine has few cores, and as a whole is not noisy.
        (Bound.OTHERS, Answer.BUSY),
        (Bound.UNSETTLED, Answer.BROKE),
    ],
)
def test_bottleneck_of_an_invalid_point_decides_the_reply_to_the_search(
    bound: str, answer: Answer
) -> None:
    result = a_result(a_spec(rate=20_000))
    reply = reply_of(judged(result, bound=bound, valid=False, evidence="1 of 1 core"), OBJECTIVE)
    assert (reply.answer, "1 of 1 core" in reply.message) == (answer, True), reply


def warned(kind: WarningKind, message: str) -> PointResult:
    warnings = (PointWarning(kind, message, "end it"),)
    return judged(a_result(a_spec(rate=10_000)), warnings=warnings)


def test_rate_broken_on_a_noisy_machine_leaves_the_targets_limit_unknown() -> None:
    result = warned(WarningKind.NOISY_MACHINE, "everything else 1.42")
    assert reply_of(result, OBJECTIVE).answer is Answer.HELD
    broke = reply_of(result, Objective.parse("p99<1us"))
    assert broke.answer is Answer.BUSY
    assert broke.message.startswith("everything else 1.42; p99 is ")


def test_latency_with_waits_for_other_programs_does_not_break_the_objective() -> None:
    result = warned(WarningKind.OTHERS_IN_LATENCY, "others")
    assert reply_of(result, OBJECTIVE).answer is Answer.HELD
    broke = reply_of(result, Objective.parse("p99<40us"))
    assert (broke.answer, broke.message) == (Answer.BUSY, "p99 is <= 50 us (asked: p99<40us)")


def test_brief_load_of_other_programs_does_not_end_the_search() -> None:
    went = walk(beside(lambda nth: nth == 3, holds_to(700)))
    assert went.found.limit_known
    assert 660 < went.rate <= 700


def test_permanently_noisy_machine_leaves_the_limit_unknown() -> None:
    for limit in (1, 700):
        went = walk(beside(lambda nth: True, holds_to(limit)))
        assert not went.found.limit_known
        assert went.rate <= limit


def beside(busy: Callable[[int], bool], target: Target) -> Target:
    """Return the target on a machine that other programs use at some of its failed trials."""
    broke = itertools.count()

    def answer(trial: Trial) -> Reply:
        reply = target(trial)
        if reply.answer is Answer.BROKE and busy(next(broke)):
            return replace(reply, answer=Answer.BUSY)
        return reply

    return answer


def late(
    users: int,
    service_us: float,
    lag_us: float,
    bound: str = Bound.UNDECIDED,
    connecting_us: float = 0.0,
) -> Reply:
    """Return a reply with 10,000/s of 11,000/s, and these service times and delays."""
    made = a_result(a_spec(rate=11_000, users=users))
    service, lag, latency = (
        Durations(p50=value, p90=value, p99=value, p99_9=value, max=value, mean=value, n=20_000)
        for value in (service_us, lag_us, service_us + lag_us)
    )
    altered = changed(
        made,
        service=service,
        lag=lag,
        latency=latency,
        verdict=structs.replace(made.verdict, bound=bound),
        busy_lanes=10_000 * (service_us + connecting_us) / 1e6,
    )
    return reply_of(altered, OBJECTIVE)


@pytest.mark.parametrize(
    ("users", "more", "answer", "crowded"),
    [
        # 10,000/s of 500 us keep five lanes busy.
        (5, {}, Answer.BROKE, True),
        (64, {}, Answer.TESTER, False),
        (64, {"connecting_us": 900}, Answer.BROKE, False),
        (5, {"bound": Bound.TARGET_CPU}, Answer.BROKE, False),
        # A slow target breaks a rate, although the load generator was late.
        (64, {"service_us": 2_000, "lag_us": 9_000}, Answer.BROKE, False),
    ],
)
def test_late_operations_are_attributed_to_lanes_generator_or_target(
    users: int, more: dict[str, Any], answer: Answer, crowded: bool
) -> None:
    reply = late(**{"users": users, "service_us": 500, "lag_us": 900, **more})
    assert (reply.answer, reply.crowded) == (answer, crowded)
