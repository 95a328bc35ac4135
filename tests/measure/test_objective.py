"""Objectives: valid and refused texts, and the judgement of points."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitebench.counts import source
from sitebench.counts.durations import PERCENTILES, heading
from sitebench.counts.tally import Tally
from sitebench.errors import UnknownValue
from sitebench.measure.objective import METRICS, OPERATORS, Objective, ObjectiveState
from sitebench.measure.outcomes import advised_results
from sitebench.runs.point import PointResult
from sitebench.suite import suites
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec, a_use, summarised


def state(text: str, result: PointResult | None = None) -> ObjectiveState:
    return Objective.parse(text).judge(result or a_result()).state


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("p99<5ms", [0.005]),
        ("p99.9 <= 1s", [1.0]),
        ("p50<500us,p90<1ms", [0.0005, 0.001]),
        ("failures<0.1%", [0.1]),
        ("failures <= 0%", [0.0]),
        ("rate>=10k,cpu<80%", [10_000.0, 80.0]),
        ("ops_per_s>1,pages_per_s>40.5/s", [1.0, 40.5]),
        ("MAX<2s , mean<1ms", [2.0, 0.001]),
    ],
)
def test_objective_is_parsed(text: str, bounds: list[float]) -> None:
    assert [each.bound for each in Objective.parse(text).conditions] == bounds


def test_printed_objective_parses_to_itself() -> None:
    objective = Objective.parse(" P99 < 5ms, failures<=0.1% ")
    assert str(objective) == "p99<5ms,failures<=0.1%"
    assert Objective.parse(str(objective)) == objective


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("p99<5ms,failuers<0.1%", 9, ("unknown metric 'failuers'", "use one of p50, p90")),
        ("p98<5ms", 1, ("unknown metric 'p98'", "p99.9")),
        ("p99", 4, ("no operator after 'p99'", "<=")),
        ("p99=5ms", 4, ("no operator after 'p99'", "<=")),
        ("p99<", 5, ("'p99' has no value to compare with", "p99<5ms")),
        ("p99<5", 5, ("'5' has no unit", "5ms")),
        ("p99<fast", 5, ("unknown duration 'fast'", "500ms")),
        ("p50<1ms, failures < 3", 21, ("'3' is not a percentage", "0.1%")),
        ("rate>0", 6, ("not above zero", "500")),
        ("p99<5ms,", 9, ("a metric is missing", "use one of")),
        ("", 1, ("a metric is missing", "use one of")),
        ("p99<5ms;rate>3", 5, ("'5ms;rate>3' has no unit",)),
        ("<5ms", 1, ("unknown metric '<5ms'",)),
    ],
)
def test_error_in_an_objective_is_reported_with_its_position(
    text: str, place: int, words: tuple[str, ...]
) -> None:
    with pytest.raises(UnknownValue, match=f"character {place}:") as caught:
        Objective.parse(text)
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said


PARTS = ("p99", "rate", "failures", "cpu", "<", ">=", "=", ",", " ", "5ms", "0.1%", "10k", "%", "é")


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_any_text_is_parsed_or_refused_with_a_position(text: str) -> None:
    try:
        objective = Objective.parse(text)
    except UnknownValue as error:
        place = re.search(r", character (\d+): ", error.message)
        assert place is not None
        assert 1 <= int(place[1]) <= len(text) + 1
    else:
        assert Objective.parse(str(objective)) == objective


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 20,000 operations of 50 us in 2 s; the target used 1.9 s of CPU.
        ("p99<1ms", ObjectiveState.MET),
        ("p99<40us", ObjectiveState.BROKEN),
        ("p50>40us,p90<60us", ObjectiveState.MET),
        ("mean<=51us,max<60us", ObjectiveState.MET),
        ("failures<=0%", ObjectiveState.MET),
        ("failures<0%", ObjectiveState.BROKEN),
        ("rate>=10k", ObjectiveState.MET),
        ("rate>10k", ObjectiveState.BROKEN),
        ("cpu<=95%", ObjectiveState.MET),
        ("cpu<90%", ObjectiveState.BROKEN),
        ("p99.9<1s", ObjectiveState.UNKNOWN),
        ("pages_per_s>1", ObjectiveState.UNKNOWN),
        ("p99.9<1s,rate>1", ObjectiveState.UNKNOWN),
        ("p99.9<1s,rate>10k", ObjectiveState.BROKEN),
    ],
)
def test_objective_is_judged_by_the_figures_of_a_point(text: str, expected: ObjectiveState) -> None:
    assert state(text) is expected


def test_percentile_of_too_few_samples_is_unknown_with_the_reason() -> None:
    judged = Objective.parse("p99<1h").judge(a_result(count=9_999))
    assert judged.state is ObjectiveState.UNKNOWN
    assert "9,999 samples are too few, it needs 10,000: measure for 3s" in judged.message


def two_seconds(*steps: source.StepTotals) -> Tally:
    tally = Tally.starting(Drain(0, 0))
    tally.add(Drain(0, 2 * 10**9, steps, cpu_ns=(10**9,)))
    return tally


def measured(*steps: source.StepTotals) -> PointResult:
    """Return the result of two seconds with these steps; the steps named lookup count."""
    return summarised(two_seconds(*steps))


def test_failure_share_is_relative_to_ended_steps() -> None:
    # A pass of 20 steps fails with one of them; in 20 of 100 passes one step failed.
    passes = [Step("lookup", f"step {n}", 100, {"wrong-answer": 1}) for n in range(19)]
    failing = measured(*passes, Step("lookup", "lookup", 100, {"wrong-answer": 1}))
    assert state("failures<=1%", failing) is ObjectiveState.MET
    assert state("failures<1%", failing) is ObjectiveState.BROKEN
    refused = Step("lookup", "connect", 100, {"connect-refused": 10})
    assert state("failures<5%", measured(refused, Step("lookup", "lookup", 100))) is (
        ObjectiveState.BROKEN
    )


def timing_out(answered: int, in_vain: int, waited_ns: int = 10**10) -> PointResult:
    """Return a result in which `in_vain` operations were never answered, the others in 50 us."""
    took, waited = histogram(), histogram()
    took.record(50_000, answered)
    waited.record(waited_ns, in_vain)
    n = answered + in_vain
    return measured(Step("lookup", "lookup", n, {"timeout": in_vain}, 1, 1, took, censored=waited))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p99<5ms", ObjectiveState.BROKEN),
        ("p50<5ms", ObjectiveState.MET),
        ("max<1s", ObjectiveState.BROKEN),
        ("mean<5ms", ObjectiveState.BROKEN),
        # At least 10 s may be 11 s.
        ("p99<=11s", ObjectiveState.UNKNOWN),
        ("p99>=1s", ObjectiveState.MET),
        ("p99>11s", ObjectiveState.UNKNOWN),
    ],
)
def test_unanswered_operation_counts_with_its_waiting_time(
    text: str, expected: ObjectiveState
) -> None:
    assert state(text, timing_out(98_200, 1_800)) is expected


def test_lower_bound_of_a_percentile_is_printed_as_at_least() -> None:
    judged = Objective.parse("p99<5ms").judge(timing_out(98_200, 1_800))
    assert judged.message == "p99 is >= 10 s (asked: p99<5ms)"


def test_cpu_of_a_remote_target_is_unknown() -> None:
    assert state("cpu<50%", replace(a_result(), use=a_use(None))) is ObjectiveState.UNKNOWN


def test_missed_term_is_reported_with_value_and_objective() -> None:
    judged = Objective.parse("p99<40us,rate>1").judge(a_result())
    assert judged.message == "p99 is 50 us (asked: p99<40us)"
    assert Objective.parse("rate>1").judge(a_result()).message == "rate is 10,000/s (asked: rate>1)"


def test_docstring_of_objective_lists_every_operator_and_metric() -> None:
    import sitebench.measure.objective as module

    assert module.__doc__ is not None
    assert "`durations.PERCENTILES`" in module.__doc__
    declared_elsewhere = {name for suite in suites() for name in suite.metrics}
    declared_elsewhere.update(map(heading, PERCENTILES))
    for word in [*METRICS.keys() - declared_elsewhere, *OPERATORS]:
        assert f'"{word}"' in module.__doc__


@pytest.mark.parametrize(
    ("text", "samples"),
    [("p50<1s", 200), ("p99<1s,p50<1s", 10_000), ("p99.9<1s", 100_000), ("max<1s,failures<1%", 1)],
)
def test_objective_has_its_required_number_of_samples(text: str, samples: int) -> None:
    objective = Objective.parse(text)
    assert objective.samples() == samples
    assert objective.judge(a_result(count=samples + 1)).state is not ObjectiveState.UNKNOWN
    assert objective.judge(a_result(count=samples - 1)).state is ObjectiveState.UNKNOWN


def of_two(slow_ns: int = 50_000) -> PointResult:
    """Return the result of a file with 9,000 searches of 20 us, and 1,000 logins of two steps."""
    quick, slow = histogram(), histogram()
    quick.record(20_000, 9_000)
    slow.record(slow_ns, 1_000)
    steps = (
        Step("search", "search", 9_000, {}, 1, 1, quick),
        Step("login", "find", 1_000, {}, 1, 1, slow),
        Step("login", "bind", 1_000, {"result:49": 100}, 1, 1, slow),
        Step("login", "sequence", 1_000, {"failed": 100}, 1, 1, slow, overlaps=True),
    )
    counts = [("search", "search"), ("login", "sequence"), ("mix", "not begun")]
    spec = a_spec("mix", settings={"scenario": "mix.toml"})
    return summarised(two_seconds(*steps), spec, counts=counts)


@pytest.mark.parametrize(
    ("operation", "text", "expected"),
    [
        ("search", "p90<30us", ObjectiveState.MET),
        ("login", "p90<30us", ObjectiveState.BROKEN),
        ("search", "failures<=0%", ObjectiveState.MET),
        ("login", "failures<=10%", ObjectiveState.MET),
        ("login", "failures<10%", ObjectiveState.BROKEN),
        ("login", "rate>=450", ObjectiveState.MET),
        ("login", "rate>450", ObjectiveState.BROKEN),
        ("login", "p99<1s", ObjectiveState.UNKNOWN),
        ("logout", "p50<1s", ObjectiveState.UNKNOWN),
        ("logout", "failures<1%", ObjectiveState.UNKNOWN),
    ],
)
def test_objective_of_an_operation_is_judged_by_its_own_figures(
    operation: str, text: str, expected: ObjectiveState
) -> None:
    asked = Objective.parse(text).about_operation(operation, 0.5)
    assert asked.judge(of_two()).state is expected
    # All operations together are judged as before.
    assert Objective.parse("p90<30us").judge(of_two()).state is ObjectiveState.MET


def test_missed_term_of_an_operation_names_the_operation() -> None:
    asked = Objective.parse("p90<1s") + Objective.parse("p90<30us").about_operation("login", 0.1)
    judged = asked.judge(of_two())
    assert str(asked) == "p90<1s,login: p90<30us"
    assert judged.message == "login: p90 is 50 us (asked: p90<30us)"
    met = {"condition": "p90<1s", "state": "met", "value": pytest.approx(2e-5, 0.01)}
    broken = {"condition": "p90<30us", "state": "broken", "value": pytest.approx(5e-5, 0.01)}
    conditions = [met, {"operation": "login", **broken}]
    assert judged.to_json() == {"state": "broken", "conditions": conditions}


def test_objective_on_a_rare_operation_needs_a_longer_window() -> None:
    asked = Objective.parse("p99<1s").about_operation("login", 0.05)
    assert (Objective.parse("p99<1s") + asked).samples() == 200_000
    assert asked.samples() == 200_000


def test_metrics_without_values_per_operation_are_refused() -> None:
    for text in ("cpu<50%", "p99<1s,pages_per_s>1"):
        with pytest.raises(UnknownValue, match="for all operations together"):
            Objective.parse(text).about_operation("login", 1.0)


@pytest.mark.parametrize("whole", [None, "p99<1s,max<2s"])
def test_run_file_stores_the_objective(whole: str | None) -> None:
    login = Objective.parse("p99<1s,failures<1%").about_operation("login", 1.0)
    asked = login if whole is None else Objective.parse(whole) + login
    kept = asked.to_manifest()
    assert kept == {"objective": whole, "objectives": {"login": "p99<1s,failures<1%"}}
    assert Objective.of_manifest(kept) == asked
    for other in ({}, {"objective": 1, "objectives": []}, {"objectives": {"login": None}}):
        assert Objective.of_manifest(other) is None


def test_objective_knows_which_metrics_it_uses() -> None:
    objective = Objective.parse("p99<5ms, rate>10")
    assert [objective.about(name) for name in ("p99", "rate", "cpu")] == [True, True, False]


def test_advised_duration_fits_the_percentile_of_the_objective() -> None:
    result = a_result(count=205)
    few = "205 samples are too few, it needs 2,000: measure for 22s"
    (judged,) = Objective.parse("p95<300ms").judge(result).outcomes
    assert judged.message == f"p95 is not known (asked: p95<300ms): {few}"

    def remedies(objective: str | None) -> list[str]:
        parsed = None if objective is None else Objective.parse(objective)
        (advised,) = advised_results([result], parsed)
        remedies = (warning.remedy for warning in advised.verdict.warnings)
        return [*filter(re.compile("measure longer").match, remedies)]

    # The first window is too short to judge its steadiness.
    assert remedies(None) == ["measure longer: --measure 100s"] * 2
    steady = "measure longer: --measure 30s"
    assert remedies("p95<300ms") == [steady, "measure longer: --measure 22s"]
    assert remedies("p95<300ms,p99.9<1s") == [steady, "measure longer: --measure 1074s"]
    assert remedies("p50<300ms") == [steady]
