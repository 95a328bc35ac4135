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
    (points,) = by_workload(results).values()
    return points


def reason_without_efficiency(*results: PointResult) -> str:
    """Return the reason for which the one program has no SPICE efficiency."""
    workloads = by_workload(results)
    assert analysis.efficiencies(workloads) == {}
    (reason,) = analysis.not_compared(workloads)
    return reason


def reason_without_prediction(*results: PointResult) -> str:
    predictions, (reason,) = analysis.predictions(by_workload(results))
    assert predictions == []
    return reason


def prediction(*results: PointResult) -> analysis.Prediction:
    (predicted,), failed = analysis.predictions(by_workload(results))
    assert failed == []
    return predicted


def useful(*repeats: PointResult) -> bool | None:
    (point,) = series([*repeats])
    return analysis.useful(point)


def useful_clients(*results: PointResult) -> int:
    """Return the number of clients at the useful peak."""
    best = analysis.useful_peak(series([*results]))
    assert best is not None
    return best.clients


def webbench1(
    users: int = 12, *, static: float = 1_401, light: float = 344, heavy: float = 48
) -> list[PointResult]:
    """Return the workloads of WebBench 1.0, by default those of 1997's ProLiant 5000 2P."""
    rates = {"static": static, "light": light, "heavy": heavy}
    return [a_result(f"webbench1-{name}", users, rate) for name, rate in rates.items()]


def invalid(result: PointResult) -> PointResult:
    return replace(result, verdict=Verdict("generator", False, "the load generator was full"))


def unsettled(result: PointResult) -> PointResult:
    return replace(result, verdict=Verdict(Bound.UNSETTLED, False, "it still changed"))


def at_rate(result: PointResult, per_s: float) -> PointResult:
    return replace(result, spec=replace(result.spec, rate=per_s))


def kept(result: PointResult) -> PointResult:
    """Return a result with a rate that was set and kept."""
    verdict = Verdict(Bound.SCHEDULE, True, "the schedule's rate was kept")
    return replace(at_rate(result, result.figures["requests_per_s"]), verdict=verdict)


def setting(result: PointResult, **settings: str) -> PointResult:
    spec = replace(result.spec, settings={**result.spec.settings, **settings})
    return replace(result, spec=spec)


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
    drifting = unsettled(a_result(STATIC, 240, 9_000))
    best = analysis.peak_of(series([*a_sweep(STATIC, PROLIANT_5000_1P), drifting]))
    assert best is not None
    assert best.spec.users == 96


def test_rate_limited_by_the_generator_is_a_lower_bound_of_the_peak() -> None:
    limited = invalid(a_result(STATIC, 240, 9_000))
    best = analysis.peak_of(series([*a_sweep(STATIC, PROLIANT_5000_1P), limited]))
    assert at_clients(best, figure_of("requests_per_s")) == ">= 9,000 @ 240"


def test_points_limited_by_the_generator_are_left_out_of_curves() -> None:
    results = [*a_sweep(STATIC, {1: 100, 4: 300}), invalid(a_result(STATIC, 8, 900))]
    assert [point.clients for point in analysis.curve(series(results))] == [1, 4]
    assert useful_clients(*results) == 4


def test_peak_is_useful_only_if_clients_are_served_fairly() -> None:
    unfair = a_result(STATIC, 4, 2_000, counts=(1_900, 1_900, 100, 100))
    assert useful(unfair) is False
    assert useful_clients(a_result(STATIC, 2, 1_500), unfair) == 2


def test_peak_with_a_few_starved_clients_is_not_useful() -> None:
    # Two of fifty: a coefficient of variation of 20 %.
    starved = a_result(STATIC, 50, 1_332, counts=(*(2,) * 2, *(280,) * 48))
    assert starved.figures["clients"]["variation"] == pytest.approx(0.2, abs=0.01)
    assert useful(starved) is False


def test_peak_is_useful_only_if_clients_have_no_pauses() -> None:
    slow = a_result(STATIC, 4, 2_000, latency_ms=1_500)
    assert useful_clients(a_result(STATIC, 2, 1_500), slow) == 2


def test_too_few_requests_per_client_leave_fairness_unknown() -> None:
    assert useful(a_result(STATIC, 4, 2_000, counts=(10, 10, 10, 10))) is None


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
    heavy = prediction(*used_up(webbench1()))
    assert heavy.requests_per_s == pytest.approx(48.9, abs=0.05)
    assert heavy.off == pytest.approx(0.019, abs=1e-3)


def test_rates_that_no_costs_explain_are_reported() -> None:
    reason = reason_without_prediction(*used_up(webbench1(static=100, light=2_000)))
    assert "one bottleneck did not limit both" in reason


def test_failed_prediction_names_workloads_without_a_used_up_resource() -> None:
    static, *others = webbench1()
    spice = [invalid(a_result("spice-static", 12, 1_153)), a_result("spice-cgi", 12, 344)]
    limited = "has no valid point that a used-up resource limited"
    every = "webbench1-static, webbench1-light, webbench1-heavy"
    reason = reason_without_prediction(invalid(static), *others, *spice)
    assert reason == f"webbench1-heavy: {every} {limited}"
    reason = reason_without_prediction(invalid(static), *used_up(others))
    assert reason == f"webbench1-heavy: webbench1-static {limited}"
    assert analysis.not_compared(by_workload(a_sweep("spice-cgi", {12: 344}))) == []


def test_peak_below_a_lower_bound_of_another_point_is_not_a_peak() -> None:
    """Peaks of 100 % were printed beside a static test of at least 20,000 at 16 clients."""
    static = [a_result("spice-static", 1, 5_000), invalid(a_result("spice-static", 16, 20_000))]
    reason = reason_without_efficiency(*static, *a_sweep("spice-cgi", {1: 2_000, 16: 5_000}))
    assert "at least 20,000/s, so it keeps at most 25.0%" in reason
    # In the opposite case the peak is a lower bound.
    program = invalid(a_result("spice-cgi", 1, 1_000))
    assert "so keeps at least 20.0%" in reason_without_efficiency(static[0], program)
    reason = reason_without_efficiency(*static, program)
    assert "it does at least 1,000/s, and spice-static at least 20,000/s" in reason
    # A kept rate is not a limit of the load generator.
    both = [kept(a_result(f"spice-{name}", 1, 1_000)) for name in ("static", "cgi")]
    reason = reason_without_efficiency(*both)
    assert "load generator" not in reason
    assert "spice-static at least 1,000/s" in reason


def test_peak_below_a_point_left_out_of_the_curve_is_not_a_peak() -> None:
    """One in a hundred failed at 16 clients, and the point at one client was taken as the peak."""
    program = used_up(a_sweep("spice-cgi", {1: 500, 16: 900}))
    slow = used_up([a_result("spice-static", 1, 1_000)])
    again = "spice-static did more where requests failed or nothing settled"
    for above, reason in (
        (a_result("spice-static", 16, 4_000, lost=800), again),
        (unsettled(a_result("spice-static", 16, 4_000)), again),
        (kept(a_result("spice-static", 16, 4_000)), "at least 4,000/s, so it keeps at most 22.5%"),
    ):
        assert reason in reason_without_efficiency(*slow, above, *program)
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
    results = used_up(a_result(name, 36, rate) for name, rate in rates.items())
    assert "faster than it would be without TLS" in reason_without_prediction(*results)


def test_cost_of_tls_is_the_difference_of_the_e_commerce_test() -> None:
    """2000's iWS on one processor: 756.8 requests/s without TLS, 14.3 ms per request with TLS."""
    rates = {"spice-static": 1_153, "spice-inprocess": 307, "ecommerce-inprocess": 406}
    mix = prediction(*used_up(a_result(name, 36, rate) for name, rate in rates.items()))
    assert mix.requests_per_s == pytest.approx(756.8, abs=0.1)
    assert "14.3 ms for each request over TLS" in mix.finding


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
    rates = {"spice-static": 1_000, "spice-cgi": 100}
    results = [at_rate(a_result(name, 16, rate, 1.0), rate) for name, rate in rates.items()]
    assert analysis.efficiencies(by_workload(results)) == {}


def test_workloads_with_different_settings_are_not_compared() -> None:
    """One run file may contain both: files without TLS, programs with TLS."""
    plain = a_sweep("spice-static", {1: 2_000, 8: 5_000})
    over_tls = [setting(each, tls="true") for each in a_sweep("spice-cgi", {1: 400, 8: 1_000})]
    reason = reason_without_efficiency(*plain, *over_tls)
    assert "they were not measured alike: tls" in reason
    *sources, heavy = used_up(webbench1())
    reason = reason_without_prediction(*sources, setting(heavy, tls="true"))
    assert "webbench1-heavy: they were not measured alike: tls" in reason


def test_costs_are_those_of_the_peak_point() -> None:
    """The other of two windows with equally many clients may have had another limit."""
    static, light, heavy = used_up(webbench1())
    long = replace(light, spec=replace(light.spec, measure_s=60.0))
    mix = prediction(a_result("webbench1-light", 12, 300), static, long, heavy)
    assert mix.requests_per_s == pytest.approx(48.9, abs=0.05)


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
    no_static, no_program = (unsettled(a_result(f"spice-{n}", 1, 100)) for n in ("static", "cgi"))
    for results, reason in (
        ([no_static, *program], "spice-static has no valid point"),
        ([*map(invalid, static), no_program], "spice-static has no valid point"),
        ([*static, no_program], "it has no valid point"),
        ([*static, *a_sweep("spice-cgi", {2: 400})], "no number of clients in common"),
    ):
        assert reason in reason_without_efficiency(*results)


def test_one_repeat_without_a_used_up_resource_prevents_a_prediction() -> None:
    results = used_up(webbench1())
    first, *others = (replace(each, spec=replace(each.spec, repeat=1)) for each in results)
    assert prediction(*results, first, *others).workload == "webbench1-heavy"
    undecided = replace(first, verdict=Verdict(Bound.UNDECIDED, True, "nothing was used up"))
    reason = reason_without_prediction(*results, undecided, *others)
    assert "webbench1-static has no valid point that a used-up resource limited" in reason


def test_prediction_uses_the_peak_points() -> None:
    """That a point of one client exhausts no resource is irrelevant if a hundred clients do."""
    idle = webbench1(1, static=140.1, light=34.4, heavy=4.8)
    assert prediction(*idle, *used_up(webbench1(100))).workload == "webbench1-heavy"


def test_fixed_rate_that_was_kept_is_a_lower_bound_of_the_peak() -> None:
    """The table of peaks had 800 @ 64 for a server with that fixed rate."""
    assert peak_row(series([kept(a_result(STATIC, 64, 800, 1.0))]))[0] == ">= 800 @ 64"


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
    for lost, allowed in ((19, True), (25, False)):
        failing = a_result(STATIC, 1, 1_000, latency_ms=0.3, lost=lost)
        assert useful(failing) is allowed
        assert bool(analysis.curve(series([failing]))) is allowed
