import json

import pytest
from msgspec.structs import replace

from sitebench.counts.durations import Durations
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from sitebench.measure.summarise import summarise
from sitebench.runs.point import PointResult, PointSpec
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec, a_use


def test_specification_of_a_point_survives_serialisation() -> None:
    spec = a_spec(rate=500.0)
    assert PointSpec.read(spec.stored()) == spec


def summarised(
    *steps: StepTotals, native: bool = True, cpu_ns: tuple[int, ...] = (0,)
) -> PointResult:
    """Return the result of a second in which lookups were counted."""
    tally = Tally.starting(Drain(0, 0, cpu_ns=(0,) * len(cpu_ns)))
    tally.add(Drain(0, 10**9, steps, cpu_ns=cpu_ns))
    counts = [("lookup", "lookup")]
    return summarise(a_spec(), tally, counts, a_use(), target_cores=1, native=native)


def test_keys_of_points_are_stable() -> None:
    spec = PointSpec(
        *("ils", "lookup", 10_000, "embedded", 64, 500.0, 2, 5.0),
        settings={"think": "0s", "a": "1"},
    )
    assert spec.stored() == (
        '{"client":"native","entries":10000,"measure_s":5.0,"method":2,"operation":"lookup","rate":500.0,'
        '"repeat":0,"settings":{"a":"1","think":"0s"},"suite":"ils","target":"embedded",'
        '"threads":null,"users":64,"warmup_s":2}'
    )
    assert spec.key == "4564aa0edf21a81d6a4d"
    assert replace(spec, repeat=1, threads=2).key == "a3d06780e89259b65fab"


def test_points_with_equal_options_have_one_key() -> None:
    assert a_spec(settings={"a": "1", "b": "2"}).key == a_spec(settings={"b": "2", "a": "1"}).key
    assert a_spec().key != a_spec(entries=2_000).key
    assert a_spec().key != a_spec(settings={"a": "c"}).key


def test_result_survives_serialisation() -> None:
    result = a_result()
    assert PointResult.read(json.loads(json.dumps(result.to_json()))) == result


def test_json_object_has_the_documented_fields() -> None:
    point = a_result().to_json()
    fields = {"operation": "lookup", "entries": 1_000, "ops_per_s": 10_000, "failures": 0}
    fields |= {"failures_by_kind": {}, "verdict": "target-cpu", "schedule": "closed"}
    assert fields.items() <= point.items()
    assert set(point["latency_us"]) >= {"p50", "p90", "p99", "p99_9", "max", "mean"}
    assert point["generator"]["cpu_us_per_op"] == 40.0


@pytest.mark.parametrize(
    ("name", "least"), [("p50", 200), ("p90", 1_000), ("p99", 10_000), ("p99_9", 100_000)]
)
def test_percentile_needs_a_hundred_samples_beyond_it(name: str, least: int) -> None:
    enough, short = histogram(), histogram()
    enough.record(1_000, least)
    short.record(1_000, least - 1)
    assert Durations.of(enough).percentiles[name] == 1.0
    assert Durations.of(short).percentiles[name] is None


def test_maximum_and_mean_are_in_microseconds() -> None:
    found = Durations.of(histogram(1_000, 3_000))
    assert (found.max, found.mean, found.n) == pytest.approx((3.0, 2.0, 2), rel=1e-3)
    never = Durations.of(histogram(1_000), histogram(3_000))
    assert (never.max, never.mean, never.n) == pytest.approx((3.0, 2.0, 2), rel=1e-3)


def test_percentile_beyond_the_shortest_abandoned_wait_is_a_bound() -> None:
    answered, equal, in_vain = histogram(), histogram(), histogram()
    answered.record(1_000, 1_000)
    equal.record(1_000, 10)
    in_vain.record(500, 5)
    in_vain.record(2_000, 5)
    for given_up in (equal, in_vain):
        assert Durations.of(answered, given_up).at_least == ("p50", "p90", "max", "mean")
    fields = {"p50", "p90", "p95", "p99", "p99_9", "max", "mean", "n"}
    assert set(Durations.of(answered).to_json()) == fields


def test_empty_histogram_has_no_latency() -> None:
    nothing = Durations.of(histogram())
    assert (nothing.n, nothing.mean, nothing.max) == (0, None, None)
    assert set(nothing.percentiles.values()) == {None}


def test_throughput_excludes_failures_and_failures_of_all_steps_count() -> None:
    result = summarised(
        Step("lookup", "connect", 3, {"connect-refused": 2}),
        Step("lookup", "lookup", 100, {"wrong-answer": 10}),
        Step("lookup", "sequence", 5, {"wrong-answer": 5}),
    )
    assert result.ops_per_s == 90
    assert result.failures_by_kind == {"connect-refused": 2, "wrong-answer": 10}


def test_cpu_of_the_portable_client_is_that_of_its_whole_process() -> None:
    result = summarised(Step("lookup", "lookup", 1_000), native=False, cpu_ns=())
    assert result.cpu_us_per_op == 900.0


@pytest.mark.parametrize(
    ("cpu_ns", "left"), [((4 * 10**8, 10**8), 0.6), ((10**9 + 10**6,), 0.0), ((), None)]
)
def test_headroom_is_that_of_the_busiest_thread(
    cpu_ns: tuple[int, ...], left: float | None
) -> None:
    result = summarised(Step("lookup", "lookup", 1_000), cpu_ns=cpu_ns)
    assert result.headroom == pytest.approx(left)
    assert result.to_json()["generator"]["headroom"] == result.headroom


def test_percentile_among_unanswered_operations_is_a_lower_bound() -> None:
    answered, in_vain = histogram(), histogram()
    answered.record(1_000_000, 982_000)
    in_vain.record(10_000_000_000, 18_000)
    found = Durations.of(answered, in_vain)
    assert found.n == 1_000_000
    assert (found.p50, found.p99) == pytest.approx((1_000, 10e6), rel=0.001)
    assert found.at_least == ("p99", "p99_9", "max", "mean")
    assert Durations.of(answered).at_least == ()


def test_failure_share_of_a_scenario_excludes_connections() -> None:
    operation = a_result().steps[0]
    connect = replace(operation, step="connect", counted=False)
    kinds = {"timeout": 100}
    spec = a_spec(settings={"scenario": "site.toml"})
    steps = (connect, operation)
    result = replace(a_result(spec), steps=steps, operations=900, failures_by_kind=kinds)
    assert result.attempts == 1_000
