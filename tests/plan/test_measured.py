"""The rates of a plan, computed from a run's points."""

import re

import pytest
from msgspec import structs
from msgspec.structs import replace

from ils_bench.paper.plan import PLAN as ILS
from ps_bench.paper.plan import PLAN as PS
from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.plan.choose import plan
from sitebench.plan.measured import tables_of
from sitebench.plan.model import Scenario
from sitebench.plan.options import estimable, parse_mix, parse_rates
from sitebench.plan.rates import RateTable, Remark
from sitebench.runs.point import PointResult
from sitebench.verdict.verdict import Bound, Verdict
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec

ONLY_LOOKUPS = Scenario(0.04, 1_200.0, {"lookup": 6.0})


def invalid(result: PointResult) -> PointResult:
    return structs.replace(result, verdict=Verdict(Bound.UNSETTLED, False, "it drifts"))


def a_page_result(pages_per_s: float, entries: int = 1_000) -> PointResult:
    made = a_result(a_spec("scenario", entries, suite="ps"))
    return structs.replace(made, figures={"web_pages_per_s": pages_per_s})


def test_rate_of_a_plan_is_the_median_over_repeats() -> None:
    results = [a_result(a_spec(repeat=n), count) for n, count in enumerate((2_000, 9_000, 4_000))]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"lookup": 2_000.0}


def test_highest_rate_of_several_loads_is_used() -> None:
    results = [
        a_result(a_spec(users=u), count) for u, count in ((2, 5_000), (8, 9_000), (64, 8_000))
    ]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"lookup": 4_500.0}


def test_invalid_point_is_left_out_with_its_reason() -> None:
    results = [a_result(a_spec(users=2), 5_000), invalid(a_result(a_spec(users=8), 9_000))]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"lookup": 2_500.0}
    assert [str(each) for each in table.remarks] == ["lookup at 1k: left out, unsettled: it drifts"]


@pytest.mark.parametrize(
    ("bound", "cause"),
    [
        (Bound.GENERATOR, "the load generator was the limit"),
        (Bound.OTHERS, "other programs had the cores"),
    ],
)
def test_lower_bound_is_used_with_a_remark(bound: Bound, cause: str) -> None:
    limited = structs.replace(
        a_result(a_spec(users=8), 9_000), verdict=Verdict(bound, False, "full", (), (), 9e9)
    )
    (table,) = tables_of([a_result(a_spec(users=2), 5_000), limited], ILS)
    assert table.rates_at(1_000) == {"lookup": 4_500.0}
    (remark,) = table.remarks
    assert f"a lower bound: {cause}" in str(remark)


def test_plan_from_invalid_points_only_is_refused_with_the_reason() -> None:
    (table,) = tables_of([invalid(a_result())], ILS)
    with pytest.raises(BadInput, match=r"no rate for lookup .*it drifts"):
        plan(ILS, ONLY_LOOKUPS, table)


def test_rates_of_two_targets_are_never_mixed() -> None:
    slow = a_result(a_spec(target="openldap"), 2_000)
    tuned = a_result(a_spec(users=9, settings={"a": "c"}), 9_000)
    tables = tables_of([a_result(), slow, tuned], ILS)
    assert [table.machine for table in tables] == [
        "embedded, a=b",
        "openldap, a=b",
        "embedded, a=c",
    ]


def test_points_that_differ_only_in_load_belong_to_one_target() -> None:
    pushed = [a_result(a_spec(users=u)) for u in (1, 2)]
    assert len(tables_of(pushed, ILS)) == 1


def test_points_with_and_without_option_until_belong_to_one_target() -> None:
    specs = [a_spec(users=1), a_spec(users=2, settings={"a": "b", "until": "p99:5%"})]
    (table,) = tables_of(map(a_result, specs), ILS)
    assert table.machine == "embedded"


def test_rate_that_kept_its_schedule_has_the_remark_that_the_limit_is_higher() -> None:
    scheduled = structs.replace(a_result(), verdict=Verdict(Bound.SCHEDULE, True, "kept"))
    (table,) = tables_of([scheduled], ILS)
    assert "limit is higher" in str(table.remarks[0])


def test_site_is_planned_in_whole_pages_without_single_requests() -> None:
    alone = a_result(a_spec("image", suite="ps"))
    (table,) = tables_of([a_page_result(43.5), alone], PS)
    assert table.rates == {"pages": (43.5,)}


def test_pages_of_a_user_defined_scenario_are_used() -> None:
    """`page = true` is "for `sitebench plan ps` too", but plan used no finished points with it."""
    settings = {"scenario": "shop.toml"}
    made = a_result(a_spec("shop", suite="ps", settings=settings))
    (table,) = tables_of([structs.replace(made, figures={"web_pages_per_s": 120.0})], PS)
    assert table.rates == {"pages": (120.0,)}
    (none,) = tables_of([structs.replace(made, figures={"web_pages_per_s": 0.0})], PS)
    with pytest.raises(BadInput, match="mark an operation of the scenario with `page = true`"):
        plan(PS, Scenario(0.04, 25.0), none)


AT_RANDOM = {"arrivals": "poisson"}


def test_only_rates_that_met_the_objective_are_used() -> None:
    specs = [a_spec(rate=rate, settings=AT_RANDOM) for rate in (10e3, 15e3)]
    results = [a_result(*pair) for pair in zip(specs, (20_000, 30_000), strict=True)]
    slow = structs.replace(results[1].clocks["latency"], p99=9e4)
    results[1] = changed(results[1], latency=slow)
    (table,) = tables_of(results, ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 10_000.0}


def at_rate(per_s: float, p99_us: float, seconds: float, users: int = 64) -> PointResult:
    """Return a window at a rate: a short window of a search, or a window of a hold."""
    spec = a_spec(rate=per_s, measure_s=seconds, users=users, settings=AT_RANDOM)
    made = a_result(spec, round(2 * per_s))
    return changed(made, latency=structs.replace(made.clocks["latency"], p99=p99_us))


def test_rate_broken_in_a_long_hold_is_not_used() -> None:
    """A search tries rates in short windows: of 100, 200 and 180 it held 160 for long enough."""
    short = [at_rate(100.0, 1e4, 5), at_rate(200.0, 1e4, 5), at_rate(180.0, 1e4, 5)]
    held = [at_rate(160.0, 1e4, 15), at_rate(180.0, 9e4, 15)]
    (table,) = tables_of([*short, *held], ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 160.0}


def test_rate_that_broke_only_in_a_shorter_window_or_with_fewer_users_is_used() -> None:
    """A search repeats a rate with a longer window, and with more users if all were busy."""
    broke = [at_rate(180.0, 9e4, 5), at_rate(180.0, 9e4, 15, users=32)]
    (table,) = tables_of([*broke, at_rate(180.0, 1e4, 15)], ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 180.0}


def test_objective_met_by_no_rate_is_refused_with_advice() -> None:
    (table,) = tables_of(
        [a_result(a_spec(rate=10e3, settings=AT_RANDOM))], ILS, Objective.parse("p99<1us")
    )
    said = (
        r"no rate from 10,000/s up met the objective.*ils peak lookup --objective 'p99<1us', with"
    )
    with pytest.raises(BadInput, match=said):
        plan(ILS, ONLY_LOOKUPS, table)


def test_closed_schedules_yield_no_rate_under_an_objective() -> None:
    """A closed load of one user met almost any objective, at a rate of no real crowd."""
    (table,) = tables_of([a_result(a_spec(users=2))], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(BadInput, match=r"waited for each answer.*sitebench ils peak lookup"):
        plan(ILS, ONLY_LOOKUPS, table)
    (table,) = tables_of([a_result(a_spec(users=2))], ILS)
    assert table.rates_at(1_000) == {"lookup": 10_000.0}
    # Evenly spaced operations do not count either, because people arrive at random.
    even = a_result(a_spec(rate=10e3, settings={"arrivals": "even"}))
    (table,) = tables_of([even], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(BadInput, match="evenly spaced, and those of people are random"):
        plan(ILS, ONLY_LOOKUPS, table)


def test_unknown_percentile_is_not_reported_as_missed() -> None:
    short = a_result(a_spec(rate=500.0, settings=AT_RANDOM), 1_000)
    short = changed(short, latency=structs.replace(short.clocks["latency"], p99=None))
    (table,) = tables_of([short], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(
        BadInput, match=r"not known whether .* as there were too few operations.*longer"
    ):
        plan(ILS, ONLY_LOOKUPS, table)


def test_smallest_measured_size_of_at_least_the_planned_people_is_used() -> None:
    table = RateTable("m", (1_000, 10_000, 100_000), {"pages": (50.0, 40.0, 30.0)})
    assert plan(PS, Scenario(0.04, 25.0), table).size == 100_000
    assert plan(PS, Scenario(0.04, 25.0, community=9_000), table).size == 10_000
    assert plan(PS, Scenario(0.04, 25.0), table, size=1_000).size == 1_000


def test_extrapolation_beyond_twice_the_measured_size_is_refused_by_default() -> None:
    table = RateTable("m", (10_000,), {"pages": (40.0,)})
    near = plan(PS, Scenario(0.04, 25.0, community=20_000), table)
    assert "(2 times fewer)" in near.warnings[0]
    many = plan(PS, Scenario(0.04, 25.0), RateTable("m", (1,), {"pages": (5.0,)}), size=1)
    assert re.search(r"\((\d{1,3}(,\d{3})*) times fewer\)", many.warnings[0])
    far = Scenario(0.04, 25.0, community=20_001)
    with pytest.raises(BadInput, match="more than twice") as refused:
        plan(PS, far, table)
    assert "--size 10k" in refused.value.remedy
    assert plan(PS, far, table, size=10_000).values["machines"] == 1


def test_people_online_are_divided_among_the_machines() -> None:
    table = RateTable("m", (10_000,), {"lookup": (100.0,)})
    # 40,000 people online exceed the measured directory, but four machines have 10,000 each.
    scenario = Scenario(0.04, 600.0, {"lookup": 6.0}, community=1_000_000)
    made = plan(ILS, scenario, table)
    assert made.values["machines"] == 4
    assert not any("people" in warning for warning in made.warnings)


def test_strictest_of_several_percentiles_is_estimated() -> None:
    assert estimable(Objective.parse("p50<10ms,p99<1s")) == (0.5, 0.01)
    with pytest.raises(BadInput, match="failures<1% cannot be estimated"):
        estimable(Objective.parse("failures<1%"))


def test_mixes_and_rates_are_parsed_as_pairs() -> None:
    assert parse_mix("lookup=10, add=0.5") == (("lookup", 10.0), ("add", 0.5))
    assert parse_rates("lookup=40k") == (("lookup", 40_000.0),)


@pytest.mark.parametrize(
    "text", ["", "lookup", "lookup=", "=3", "lookup=x", "lookup=-1", "a=1,a=2"]
)
def test_unreadable_mix_is_refused(text: str) -> None:
    with pytest.raises(UnknownValue):
        parse_mix(text)


def counting(result: PointResult, *steps: tuple[str, str]) -> PointResult:
    """Return a result that counts these operations (program, step)."""
    (one,) = result.steps
    each = (structs.replace(one, program=program, step=step) for program, step in steps)
    return structs.replace(result, steps=tuple(each))


def test_points_with_different_counted_steps_yield_no_rate() -> None:
    results = [
        counting(a_result(a_spec("own", users=n)), ("own", step))
        for n, step in ((2, "search"), (8, "sequence"))
    ]
    with pytest.raises(BadInput, match="counts search in some points and sequence in others"):
        tables_of(results, ILS)


def of_a_file(users: int, *operations: tuple[str, str], name: str = "shop") -> PointResult:
    """Return a result of a scenario file with these operations."""
    settings = {"scenario": f"{name}.toml"}
    return counting(a_result(a_spec(name, users=users, settings=settings)), *operations)


BROWSE, PAY, LATE = ("browse", "open"), ("pay", "sequence"), ("shop", "not begun")


def test_operation_that_did_not_occur_does_not_split_the_rate_of_its_file() -> None:
    """With one user the rare operation did not occur in 2 s; with 64 one arrival was late."""
    results = [of_a_file(1, BROWSE), of_a_file(8, BROWSE, PAY), of_a_file(64, BROWSE, PAY, LATE)]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"shop": 10_000.0}


def test_operations_of_a_file_are_one_rate_even_if_its_name_contains_a_plus() -> None:
    (table,) = tables_of([of_a_file(1, BROWSE, PAY, name="read+write")], ILS)
    assert table.rates_at(1_000) == {"read+write": 10_000.0}


def test_rate_of_two_programs_with_different_counted_steps_is_left_out() -> None:
    both = counting(
        a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "sequence")
    )
    (table,) = tables_of([both, a_result()], ILS)
    assert table.rates_at(1_000) == {"lookup": 10_000.0}
    with pytest.raises(BadInput, match="its rate counts lookup and sequence together"):
        plan(ILS, Scenario(0.04, 1_200.0, {"lookup+ils-user": 1.0}), table)


def test_points_of_other_suites_and_operations_are_ignored() -> None:
    results = [a_result(), a_page_result(43.5), a_result(a_spec("image", suite="ps"))]
    (directory,), (site,) = (tables_of(results, each) for each in (ILS, PS))
    assert list(directory.rates) == ["lookup"]
    assert list(site.rates) == ["pages"]


def test_machines_are_named_by_their_differences() -> None:
    (alone,) = tables_of([a_result(), a_result(a_spec(entries=5_000))], ILS)
    assert alone.machine == "embedded"
    both = [a_result(), a_result(structs.replace(a_spec(), client="ldap3"))]
    machines = ["embedded, native", "embedded, ldap3"]
    assert [each.machine for each in tables_of(both, ILS)] == machines


def test_reason_for_no_rate_states_the_lowest_rate_that_missed_the_objective() -> None:
    met_none, unknown = (
        changed(a_result(a_spec(rate=rate, settings=AT_RANDOM), round(2 * rate)), latency=latency)
        for rate, latency in (
            (500.0, structs.replace(a_result().clocks["latency"], p99=9e4)),
            (100.0, structs.replace(a_result().clocks["latency"], p99=None)),
        )
    )
    (table,) = tables_of([met_none, unknown], ILS, Objective.parse("p99<50ms"))
    assert "no rate from 100/s up met the objective" in str(table.remarks[0])
    # An invalid point is left out before.
    (table,) = tables_of([invalid(unknown), met_none], ILS, Objective.parse("p99<50ms"))
    assert "no rate from 500/s up met the objective" in str(table.remarks[-1])


def test_open_and_closed_points_may_have_different_counted_steps() -> None:
    results = [
        counting(a_result(a_spec("own", users=8, rate=rate)), ("own", step))
        for rate, step in ((None, "request"), (900.0, "sequence"))
    ]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"own": 10_000.0}


def test_rate_of_two_programs_with_the_same_counted_step_is_used() -> None:
    alike = counting(a_result(a_spec("lookup+search")), ("lookup", "lookup"), ("search", "lookup"))
    (table,) = tables_of([alike], ILS)
    assert table.rates_at(1_000) == {"lookup+search": 10_000.0}
    # One program of two had no operation, so it has no counted step.
    both = counting(a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "all"))
    one, none = both.steps
    idle = structs.replace(both, steps=(one, structs.replace(none, count=0)))
    (table,) = tables_of([idle], ILS)
    assert table.rates_at(1_000) == {"lookup+ils-user": 10_000.0}


def test_rate_kept_in_only_one_of_two_repeats_has_no_remark_on_the_limit() -> None:
    kept = Verdict(Bound.SCHEDULE, True, "kept")
    results = [a_result(a_spec(repeat=n)) for n in range(2)]
    (table,) = tables_of([structs.replace(results[0], verdict=kept), results[1]], ILS)
    assert not any("limit is higher" in str(each) for each in table.remarks)


def test_plan_without_rates_of_all_operations_at_one_size_is_refused() -> None:
    rates = {"lookup": (900.0, 800.0), "add": (None, 700.0), "connect": (400.0, None)}
    table = RateTable("m", (1_000, 5_000), rates)
    both = Scenario(0.04, 1_200.0, {"lookup": 6.0, "add": 1.0})
    assert plan(ILS, both, table).size == 5_000
    with pytest.raises(BadInput, match="no size with a rate for each of lookup, add, connect"):
        plan(ILS, Scenario(0.04, 1_200.0, {"lookup": 6.0, "add": 1.0, "connect": 1.0}), table)
    with pytest.raises(BadInput, match="no rate for rename") as refused:
        plan(ILS, Scenario(0.04, 1_200.0, {"rename": 1.0}), table)
    assert refused.value.remedy.endswith("there are rates for lookup, add, connect")
    with pytest.raises(BadInput) as refused:
        plan(ILS, ONLY_LOOKUPS, RateTable("m", (1_000,), {}))
    assert refused.value.remedy.endswith("with --mix")


def test_plan_has_only_remarks_on_its_own_rates() -> None:
    remarks = (
        Remark("lookup", 1_000, "mine"),
        Remark("lookup", 5_000, "of another size"),
        Remark("add", 1_000, "of another operation"),
    )
    table = RateTable("m", (1_000, 5_000), {"lookup": (900.0, 800.0)}, remarks)
    made = plan(ILS, ONLY_LOOKUPS, table, size=1_000)
    assert [each for each in made.warnings if "fewer" not in each] == ["lookup at 1k: mine"]


def test_measured_size_equal_to_the_planned_number_of_people_is_used() -> None:
    table = RateTable("m", (10_000, 50_000), {"lookup": (100.0, 100.0)})
    # 100/s of sessions of 600 s with six lookups are 10,000 people online.
    assert plan(ILS, Scenario(0.04, 600.0, {"lookup": 6.0}), table).size == 10_000


@pytest.mark.parametrize(
    ("headroom", "burst", "none"), [(0.0, 1.0, True), (0.3, 1.0, False), (0.0, 1.5, False)]
)
def test_plan_of_a_community_has_no_remark_on_headroom(
    headroom: float, burst: float, none: bool
) -> None:
    table = RateTable("m", (10_000,), {"lookup": (900.0,)})
    shared = "the capacity of n machines is assumed"

    def told(words: str, scenario: Scenario) -> bool:
        return any(words in each for each in plan(ILS, scenario, table).warnings)

    for_all = replace(ONLY_LOOKUPS, community=50_000, headroom=headroom, burst=burst)
    assert (told("no headroom for peaks", for_all), told(shared, for_all)) == (none, True)
    assert not told("no headroom for peaks", ONLY_LOOKUPS)
    assert not told(shared, ONLY_LOOKUPS)
    assert not told("response time is estimated", for_all)
