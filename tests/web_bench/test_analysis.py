"""The analysis of a sweep over clients, tested with the papers' figures."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from sitebench.measure.peak.curve import failed_share
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from sitebench.runs.repeats import series as series_of
from sitebench.verdict.verdict import Bound, Verdict
from tests.web_bench.made import a_result, a_sweep, used_up
from web_bench.paper import analysis, tables
from web_bench.paper.figures import figure_of
from web_bench.paper.tables import at_clients, peak_row

STATIC = "webbench1-static"

PROLIANT_5000_1P = {12: 366.0, 24: 24 / 0.034, 48: 988.0, 96: 1_072.0}
"""The points of 1997's Figure 4 that the text prints.

The latency of 24 clients, 34 ms, gives a rate by Little's law.
"""


def by_workload(results: Sequence[PointResult]) -> dict[str, list[Series]]:
    return tables.by_workload(series_of(results))


def series(results: list[PointResult]) -> list[Series]:
    (found,) = by_workload(results).values()
    return found


def invalid(result: PointResult) -> PointResult:
    return replace(result, verdict=Verdict("generator", False, "the load generator was full"))


def test_stages_of_1997_are_separated_where_latency_becomes_linear() -> None:
    """In the paper latency is linear from 48 clients on."""
    found = analysis.stages(analysis.curve(series(a_sweep(STATIC, PROLIANT_5000_1P))))
    assert found == analysis.Stages((12, 24), (48, 96))


def closed_queue(most_per_s: float, elsewhere_s: float) -> dict[int, float]:
    """Return the rates of a saturating server by clients: mean value analysis of one queue."""
    found, queued = {}, 0.0
    for clients in range(1, 113):
        rate = clients / ((1 + queued) / most_per_s + elsewhere_s)
        queued = clients - rate * elsewhere_s
        found[clients] = rate
    return {clients: found[clients] for clients in (2, 4, 8, 14, 28, 56, 112)}


@pytest.mark.parametrize(
    ("peak_per_s", "rising", "saturated"),
    [(215, (2, 4, 8), (14, 28, 56, 112)), (344, (2, 4, 8, 14), (28, 56, 112))],
    ids=["one processor", "two processors"],
)
def test_stages_equal_the_four_printed_in_the_paper(
    peak_per_s: float, rising: tuple[int, ...], saturated: tuple[int, ...]
) -> None:
    """Light CGI on the ProLiant 5000: 2 to 8 and 14 to 112 clients; 2 to 14 and 28 to 112.

    The curves are images. The text has the peak of each machine, and a common time for clients and
    network: it prints 31 ms for 12 clients without a queue.
    """
    points = a_sweep("webbench1-light", closed_queue(peak_per_s, 0.031))
    assert analysis.stages(analysis.curve(series(points))) == analysis.Stages(rising, saturated)


def test_rate_that_still_rises_has_one_stage() -> None:
    assert (
        analysis.stages(analysis.curve(series(a_sweep(STATIC, {1: 100, 2: 200, 4: 399})))) is None
    )


def test_peak_states_its_number_of_clients_and_is_never_an_invalid_point() -> None:
    results = a_sweep(STATIC, PROLIANT_5000_1P)
    unsettled = replace(a_result(STATIC, 240, 9_000), verdict=Verdict("unsettled", False, "drifts"))
    best = analysis.peak_of(series([*results, unsettled]))
    assert best is not None
    assert best.spec.users == 96


def test_rate_limited_by_the_generator_is_a_lower_bound_of_the_peak() -> None:
    limited = invalid(a_result(STATIC, 240, 9_000))
    best = analysis.peak_of(series([*a_sweep(STATIC, PROLIANT_5000_1P), limited]))
    assert at_clients(best, figure_of("requests_per_s")) == ">= 9,000 @ 240"


def test_points_limited_by_the_generator_are_left_out_of_curves() -> None:
    results = [*a_sweep(STATIC, {1: 100, 4: 300}), invalid(a_result(STATIC, 8, 900))]
    assert [each.clients for each in analysis.curve(series(results))] == [1, 4]
    best = analysis.useful_peak(series(results))
    assert best is not None
    assert best.clients == 4


def test_peak_is_useful_only_if_clients_are_served_fairly() -> None:
    unfair = a_result(STATIC, 4, 2_000, counts=(1_900, 1_900, 100, 100))
    results = [a_result(STATIC, 2, 1_500), unfair]
    assert analysis.useful(series([unfair])[0]) is False
    best = analysis.useful_peak(series(results))
    assert best is not None
    assert best.clients == 2


def test_peak_with_a_few_starved_clients_is_not_useful() -> None:
    # Two of fifty: a coefficient of variation of 20 %.
    starved = a_result(STATIC, 50, 1_332, counts=(*(2,) * 2, *(280,) * 48))
    assert starved.figures["clients"]["variation"] == pytest.approx(0.2, abs=0.01)
    assert analysis.useful(series([starved])[0]) is False


def test_peak_with_one_failure_in_a_hundred_is_not_useful() -> None:
    failing = a_result(STATIC, 1, 400, latency_ms=0.3, lost=80)
    assert analysis.useful(series([failing])[0]) is False
    few = a_result(STATIC, 1, 400, latency_ms=0.3, lost=4)
    assert analysis.useful(series([few])[0]) is True


def test_peak_is_useful_only_if_clients_have_no_pauses() -> None:
    slow = a_result(STATIC, 4, 2_000, latency_ms=1_500)
    best = analysis.useful_peak(series([a_result(STATIC, 2, 1_500), slow]))
    assert best is not None
    assert best.clients == 2


def test_too_few_requests_per_client_leave_fairness_unknown() -> None:
    few = a_result(STATIC, 4, 2_000, counts=(10, 10, 10, 10))
    assert analysis.useful(series([few])[0]) is None


def test_efficiencies_are_given_for_every_program_with_a_static_test() -> None:
    results = [
        *a_sweep("spice-static", {4: 2_000, 8: 2_759}),
        *a_sweep("spice-inprocess", {8: 1_080}),
        *a_sweep("ecommerce-cgi", {8: 1_164}),
        *a_sweep(STATIC, {8: 2_000}),
    ]
    found = analysis.efficiencies(by_workload(results))
    assert list(found) == ["spice-inprocess", "ecommerce-cgi"]
    assert found["spice-inprocess"].own_peaks.request == pytest.approx(0.3914, abs=1e-4)
    assert analysis.efficiencies(by_workload(results[2:])) == {}


def test_heavy_workload_is_predicted_from_static_and_light() -> None:
    """1997's ProLiant 5000 2P: 48.9 requests/s predicted, 48 printed."""
    results = [
        *a_sweep("webbench1-static", {120: 1_401}),
        *a_sweep("webbench1-light", {56: 344}),
        *a_sweep("webbench1-heavy", {56: 48}),
    ]
    (made,), failed = analysis.predictions(by_workload(used_up(results)))
    assert made.requests_per_s == pytest.approx(48.9, abs=0.05)
    assert made.off == pytest.approx(0.019, abs=1e-3)
    assert failed == []


def test_rates_without_consistent_costs_are_reported() -> None:
    results = [
        *a_sweep("webbench1-static", {12: 100}),
        *a_sweep("webbench1-light", {12: 2_000}),
        *a_sweep("webbench1-heavy", {12: 48}),
    ]
    made, (why,) = analysis.predictions(by_workload(used_up(results)))
    assert made == []
    assert "one bottleneck did not limit both" in why


def test_failed_prediction_names_workloads_without_a_used_up_resource() -> None:
    results = [
        *map(invalid, a_sweep("webbench1-static", {12: 1_401})),
        *a_sweep("webbench1-light", {12: 344}),
        *a_sweep("webbench1-heavy", {12: 48}),
        *map(invalid, a_sweep("spice-static", {12: 1_153})),
        *a_sweep("spice-cgi", {12: 344}),
    ]
    found = by_workload(results)
    made, failed = analysis.predictions(found)
    assert made == []
    limited = "has no valid point that a used-up resource limited"
    every = "webbench1-static, webbench1-light, webbench1-heavy"
    assert failed == [f"webbench1-heavy: {every} {limited}"]
    made, failed = analysis.predictions(by_workload([results[0], *used_up(results[1:3])]))
    assert failed == [f"webbench1-heavy: webbench1-static {limited}"]
    assert analysis.not_compared(by_workload(a_sweep("spice-cgi", {12: 344}))) == []


def test_peak_below_a_lower_bound_of_another_point_is_not_a_peak() -> None:
    """Peaks of 100 % were printed beside a static test of at least 20,000 at 16 clients."""
    static = [a_result("spice-static", 1, 5_000), invalid(a_result("spice-static", 16, 20_000))]
    results = [*static, *a_sweep("spice-cgi", {1: 2_000, 16: 5_000})]
    found = by_workload(results)
    assert analysis.efficiencies(found) == {}
    (told,) = analysis.not_compared(found)
    assert "at least 20,000/s, so it keeps at most 25.0%" in told
    # In the opposite case the peak is a lower bound.
    of_program = [*a_sweep("spice-static", {1: 5_000}), invalid(a_result("spice-cgi", 1, 1_000))]
    (told,) = analysis.not_compared(by_workload(of_program))
    assert "so keeps at least 20.0%" in told
    both = [*static, invalid(a_result("spice-cgi", 1, 1_000))]
    (told,) = analysis.not_compared(by_workload(both))
    assert "it does at least 1,000/s, and spice-static at least 20,000/s" in told
    # A kept rate is not a limit of the load generator.
    both = [kept(a_result(f"spice-{name}", 1, 1_000)) for name in ("static", "cgi")]
    (told,) = analysis.not_compared(by_workload(both))
    assert "load generator" not in told
    assert "spice-static at least 1,000/s" in told


def undone(result: PointResult) -> PointResult:
    return replace(result, verdict=Verdict(Bound.UNSETTLED, False, "it still changed"))


def kept(result: PointResult) -> PointResult:
    """Return a result with a rate that was set and kept."""
    verdict = Verdict(Bound.SCHEDULE, True, "the schedule's rate was kept")
    return replace(at_rate(result, result.figures["requests_per_s"]), verdict=verdict)


def test_peak_below_a_point_left_out_of_the_curve_is_not_a_peak() -> None:
    """One in a hundred failed at 16 clients, and the point at one client was taken as the peak."""
    program = used_up(a_sweep("spice-cgi", {1: 500, 16: 900}))
    slow = used_up([a_result("spice-static", 1, 1_000)])
    again = "spice-static did more where requests failed or nothing settled"
    for above, why in (
        (a_result("spice-static", 16, 4_000, lost=800), again),
        (undone(a_result("spice-static", 16, 4_000)), again),
        (kept(a_result("spice-static", 16, 4_000)), "at least 4,000/s, so it keeps at most 22.5%"),
    ):
        found = by_workload([*slow, above, *program])
        assert analysis.efficiencies(found) == {}
        (told,) = analysis.not_compared(found)
        assert why in told
    # A point slower than the peak changes nothing.
    failing = a_result("spice-static", 16, 900, lost=800)
    assert list(analysis.efficiencies(by_workload([*slow, failing, *program]))) == ["spice-cgi"]


def test_useful_peak_below_a_lower_bound_is_itself_a_lower_bound() -> None:
    limited = invalid(a_result(STATIC, 16, 20_000))
    assert peak_row(series([a_result(STATIC, 1, 5_000), limited]))[-1] == ">= 5,000 @ 1"
    failing = a_result(STATIC, 16, 20_000, lost=8_000)
    assert peak_row(series([a_result(STATIC, 1, 5_000), failing]))[-1] == "5,000 @ 1"


def test_point_with_many_failures_is_not_a_peak() -> None:
    """One request in fifty failed, and its rate was in the table of peaks without a mark."""
    failing = a_result(STATIC, 16, 20_000, lost=8_000)
    requests, mbit, *_ = peak_row(series([a_result(STATIC, 1, 5_000), failing]))
    assert requests == "5,000 @ 1"
    assert mbit.endswith(" @ 1")
    assert peak_row(series([failing]))[0] == "-"
    few = a_result(STATIC, 16, 20_000, lost=400)
    assert peak_row(series([few]))[0] == "20,000 @ 16"


def test_mix_that_is_faster_with_tls_has_no_cost_of_tls() -> None:
    rates = {"spice-static": 5_000, "spice-inprocess": 307, "ecommerce-inprocess": 2_000}
    results = [a_result(name, 36, rate) for name, rate in rates.items()]
    made, (why,) = analysis.predictions(by_workload(used_up(results)))
    assert made == []
    assert "faster than it would be without TLS" in why


def test_cost_of_tls_is_the_difference_of_the_e_commerce_test() -> None:
    """2000's iWS on one processor: 756.8 requests/s without TLS, 14.3 ms per request with TLS."""
    results = [
        *a_sweep("spice-static", {36: 1_153}),
        *a_sweep("spice-inprocess", {8: 307}),
        *a_sweep("ecommerce-inprocess", {36: 406}),
    ]
    (made,), _ = analysis.predictions(by_workload(used_up(results)))
    assert made.requests_per_s == pytest.approx(756.8, abs=0.1)
    assert "14.3 ms for each request over TLS" in made.finding


def setting(result: PointResult, **settings: str) -> PointResult:
    """Return a result with other settings."""
    spec = replace(result.spec, settings={**result.spec.settings, **settings})
    return replace(result, spec=spec)


def at_rate(result: PointResult, per_s: float) -> PointResult:
    """Return a result whose requests arrived at a rate."""
    return replace(result, spec=replace(result.spec, rate=per_s))


def test_points_of_one_number_of_clients_have_no_stages() -> None:
    """For `vary` and for a search over rates a report ended with an IndexError."""
    varied = [
        setting(a_result(STATIC, 64, rate), target_threads=str(rate))
        for rate in (100, 180, 300, 30)
    ]
    rates = [
        at_rate(a_result(STATIC, 64, per_s, ms), per_s)
        for per_s, ms in ((100, 1.0), (200, 1.1), (400, 8.0), (800, 90.0))
    ]
    for results in (varied, rates):
        found = series(results)
        assert analysis.stages(analysis.curve(found)) is None
        assert peak_row(found)[2:4] == ["-", "-"]


def test_requests_at_a_fixed_rate_are_not_the_peak_of_a_program() -> None:
    """With kept rates of 1,000/s and 100/s, a program had 10 % of the static rate."""
    found = by_workload(
        [
            at_rate(a_result("spice-static", 16, 1_000, 1.0), 1_000),
            at_rate(a_result("spice-cgi", 16, 100, 1.0), 100),
        ]
    )
    assert analysis.efficiencies(found) == {}


def test_workloads_with_different_settings_are_not_compared() -> None:
    """One run file may contain both: files without TLS, programs with TLS."""
    plain = a_sweep("spice-static", {1: 2_000, 8: 5_000})
    over_tls = [setting(each, tls="true") for each in a_sweep("spice-cgi", {1: 400, 8: 1_000})]
    found = by_workload([*plain, *over_tls])
    assert analysis.efficiencies(found) == {}
    (told,) = analysis.not_compared(found)
    assert "they were not measured alike: tls" in told
    trio = [
        *a_sweep("webbench1-static", {120: 1_401}),
        *a_sweep("webbench1-light", {56: 344}),
        *(setting(each, tls="true") for each in a_sweep("webbench1-heavy", {56: 48})),
    ]
    made, (why,) = analysis.predictions(by_workload(used_up(trio)))
    assert made == []
    assert "webbench1-heavy: they were not measured alike: tls" in why


def test_costs_are_those_of_the_peak_point() -> None:
    """The other of two windows with equally many clients may have had another limit."""
    short, long = a_result("webbench1-light", 56, 300), a_result("webbench1-light", 56, 344)
    long = replace(long, spec=replace(long.spec, measure_s=60.0))
    others = [*a_sweep("webbench1-static", {120: 1_401}), *a_sweep("webbench1-heavy", {56: 48})]
    (made,), _ = analysis.predictions(by_workload([short, *used_up([long, *others])]))
    assert made.requests_per_s == pytest.approx(48.9, abs=0.05)


def test_fairness_is_given_for_one_client_and_unknown_for_few_requests() -> None:
    assert analysis.fair(series([a_result(STATIC, 1, 100)])[0]) is True
    few, enough = ((n, n) for n in (29, 30))
    assert analysis.fair(series([a_result(STATIC, 2, 2, counts=few)])[0]) is None
    assert analysis.fair(series([a_result(STATIC, 2, 2, counts=enough)])[0]) is True


def test_failures_are_a_share_of_all_attempts() -> None:
    failing = a_result(STATIC, 1, 400, latency_ms=0.3, lost=8_000)
    assert failed_share([failing]) == pytest.approx(0.5)


def test_lower_bound_of_a_peak_is_the_highest_of_several() -> None:
    bounds = [invalid(a_result(STATIC, n, 1_000 * n)) for n in (1, 3)]
    assert analysis.bound_of(series([*bounds, a_result(STATIC, 4, 9_000)])) == pytest.approx(3_000)
    assert analysis.bound_of(series(a_sweep(STATIC, {1: 100}))) == 0.0


def test_bound_not_above_the_peak_leaves_the_peak_unchanged() -> None:
    for bound in (900, 1_000):
        results = [a_result(STATIC, 4, 1_000), invalid(a_result(STATIC, 8, bound))]
        found = analysis.peak_reached(series(results))
        assert found is not None
        assert found.requests_per_s == pytest.approx(1_000)


def test_reason_for_no_efficiency_names_the_missing_workload() -> None:
    static, program = a_sweep("spice-static", {1: 5_000}), a_sweep("spice-cgi", {1: 400})
    for results, why in (
        ([undone(a_result("spice-static", 1, 100)), *program], "spice-static has no valid point"),
        (
            [*map(invalid, static), undone(a_result("spice-cgi", 1, 100))],
            "spice-static has no valid point",
        ),
        ([*static, undone(a_result("spice-cgi", 1, 100))], "it has no valid point"),
        ([*static, *a_sweep("spice-cgi", {2: 400})], "no number of clients in common"),
    ):
        (told,) = analysis.not_compared(by_workload(results))
        assert why in told


def test_one_repeat_without_a_used_up_resource_prevents_a_prediction() -> None:
    rates = {"webbench1-static": 1_401, "webbench1-light": 344, "webbench1-heavy": 48}
    results = used_up(a_result(name, 12, rate) for name, rate in rates.items())
    twice = [replace(each, spec=replace(each.spec, repeat=1)) for each in results]
    (made,), _ = analysis.predictions(by_workload([*results, *twice]))
    assert made.workload == "webbench1-heavy"
    undecided = Verdict(Bound.UNDECIDED, True, "nothing was used up")
    twice[0] = replace(twice[0], verdict=undecided)
    made_now, (why,) = analysis.predictions(by_workload([*results, *twice]))
    assert made_now == []
    assert "webbench1-static has no valid point that a used-up resource limited" in why


def test_prediction_uses_the_peak_points() -> None:
    """That a point of one client exhausts no resource is irrelevant if a hundred clients do."""
    rates = {"webbench1-static": 1_401, "webbench1-light": 344, "webbench1-heavy": 48}
    idle = [a_result(name, 1, rate / 10) for name, rate in rates.items()]
    full = used_up(a_result(name, 100, rate) for name, rate in rates.items())
    (made,), _ = analysis.predictions(by_workload([*idle, *full]))
    assert made.workload == "webbench1-heavy"


def test_fixed_rate_that_was_kept_is_a_lower_bound_of_the_peak() -> None:
    """The table of peaks had 800 @ 64 for a server with that fixed rate."""
    kept = Verdict(Bound.SCHEDULE, True, "the schedule's rate was kept")
    results = [replace(at_rate(a_result(STATIC, 64, 800, 1.0), 800), verdict=kept)]
    assert peak_row(series(results))[0] == ">= 800 @ 64"


@pytest.mark.parametrize(
    ("counts", "alike"),
    [
        ((80, 80, 120, 120), True),
        ((70, 70, 130, 130), False),  # A variation of 30 %, where 25 are allowed.
        ((60, *(101,) * 40), True),  # The least served has 60 % of the mean, and half are enough.
        ((49, *(101,) * 40), False),
    ],
)
def test_fair_clients_differ_by_at_most_a_quarter(counts: tuple[int, ...], alike: bool) -> None:
    made = a_result(STATIC, len(counts), 2_000, latency_ms=1, counts=counts)
    assert analysis.fair(series([made])[0]) is alike


def test_one_failure_in_a_thousand_is_allowed_and_a_few_more_are_not() -> None:
    for lost, useful_ in ((19, True), (25, False)):
        failing = series([a_result(STATIC, 1, 1_000, latency_ms=0.3, lost=lost)])
        assert analysis.useful(failing[0]) is useful_
        assert bool(analysis.curve(failing)) is useful_
