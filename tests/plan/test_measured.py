"""The rates of a plan, computed from a run's points."""

import re

import pytest
from msgspec import structs
from msgspec.structs import replace

from ils_bench.paper.plan import PLAN as ILS
from ps_bench.paper.plan import PLAN as PS
from sitebench.errors import BadInput
from sitebench.measure.objective import Objective
from sitebench.plan.choose import plan
from sitebench.plan.measured import tables_of
from sitebench.plan.model import Scenario
from sitebench.plan.options import estimable, parse_mix, parse_rates
from sitebench.plan.rates import RateTable, Remark
from sitebench.plan.suite import PlanSuite
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


def table_of(
    *results: PointResult, suite: PlanSuite = ILS, objective: str | None = None
) -> RateTable:
    """Return the rates of the only target."""
    asked = None if objective is None else Objective.parse(objective)
    (table,) = tables_of(results, suite, asked)
    return table


def rates_of(*results: PointResult, objective: str | None = None) -> dict[str, float]:
    """Return the rates at a thousand people."""
    return table_of(*results, objective=objective).rates_at(1_000)


def refuse(table: RateTable, message: str, scenario: Scenario = ONLY_LOOKUPS) -> str:
    """Check that no plan is made of these rates, and return the remedy."""
    with pytest.raises(BadInput, match=message) as refused:
        plan(ILS, scenario, table)
    return refused.value.remedy


def test_rate_of_a_plan_is_the_median_over_repeats() -> None:
    results = [a_result(a_spec(repeat=n), count) for n, count in enumerate((2_000, 9_000, 4_000))]
    assert rates_of(*results) == {"lookup": 2_000.0}


def test_highest_rate_of_several_loads_is_used() -> None:
    counts = {2: 5_000, 8: 9_000, 64: 8_000}
    results = [a_result(a_spec(users=users), count) for users, count in counts.items()]
    assert rates_of(*results) == {"lookup": 4_500.0}


def test_invalid_point_is_left_out_with_its_reason() -> None:
    spoilt = invalid(a_result(a_spec(users=8), 9_000))
    table = table_of(a_result(a_spec(users=2), 5_000), spoilt)
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
    table = table_of(a_result(a_spec(users=2), 5_000), limited)
    assert table.rates_at(1_000) == {"lookup": 4_500.0}
    (remark,) = table.remarks
    assert f"a lower bound: {cause}" in str(remark)


def test_plan_from_invalid_points_only_is_refused_with_the_reason() -> None:
    refuse(table_of(invalid(a_result())), r"no rate for lookup .*it drifts")


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
    assert table_of(*(a_result(a_spec(users=users)) for users in (1, 2)))


def test_points_with_and_without_option_until_belong_to_one_target() -> None:
    specs = [a_spec(users=1), a_spec(users=2, settings={"a": "b", "until": "p99:5%"})]
    assert table_of(*map(a_result, specs)).machine == "embedded"


def test_rate_that_kept_its_schedule_has_the_remark_that_the_limit_is_higher() -> None:
    scheduled = structs.replace(a_result(), verdict=Verdict(Bound.SCHEDULE, True, "kept"))
    assert "limit is higher" in str(table_of(scheduled).remarks[0])


def test_site_is_planned_in_whole_pages_without_single_requests() -> None:
    alone = a_result(a_spec("image", suite="ps"))
    assert table_of(a_page_result(43.5), alone, suite=PS).rates == {"pages": (43.5,)}


def test_pages_of_a_user_defined_scenario_are_used() -> None:
    """`page = true` is "for `sitebench plan ps` too", but plan used no finished points with it."""
    settings = {"scenario": "shop.toml"}
    made = a_result(a_spec("shop", suite="ps", settings=settings))
    some, none = (
        table_of(structs.replace(made, figures={"web_pages_per_s": per_s}), suite=PS)
        for per_s in (120.0, 0.0)
    )
    assert some.rates == {"pages": (120.0,)}
    with pytest.raises(BadInput, match="mark an operation of the scenario with `page = true`"):
        plan(PS, Scenario(0.04, 25.0), none)


AT_RANDOM = {"arrivals": "poisson"}


def at_rate(
    per_s: float, p99_us: float | None = 50.0, seconds: float = 2.0, users: int = 64
) -> PointResult:
    """Return a window at a rate: a short window of a search, or a window of a hold."""
    spec = a_spec(rate=per_s, measure_s=seconds, users=users, settings=AT_RANDOM)
    made = a_result(spec, round(2 * per_s))
    return changed(made, latency=structs.replace(made.clocks["latency"], p99=p99_us))


def test_only_rates_that_met_the_objective_are_used() -> None:
    results = (at_rate(10e3), at_rate(15e3, 9e4))
    assert rates_of(*results, objective="p99<50ms") == {"lookup": 10_000.0}


def test_rate_broken_in_a_long_hold_is_not_used() -> None:
    """A search tries rates in short windows: of 100, 200 and 180 it held 160 for long enough."""
    short = [at_rate(100.0, 1e4, 5), at_rate(200.0, 1e4, 5), at_rate(180.0, 1e4, 5)]
    held = [at_rate(160.0, 1e4, 15), at_rate(180.0, 9e4, 15)]
    assert rates_of(*short, *held, objective="p99<50ms") == {"lookup": 160.0}


def test_rate_that_broke_only_in_a_shorter_window_or_with_fewer_users_is_used() -> None:
    """A search repeats a rate with a longer window, and with more users if all were busy."""
    broke = [at_rate(180.0, 9e4, 5), at_rate(180.0, 9e4, 15, users=32)]
    held = at_rate(180.0, 1e4, 15)
    assert rates_of(*broke, held, objective="p99<50ms") == {"lookup": 180.0}


def test_objective_met_by_no_rate_is_refused_with_advice() -> None:
    table = table_of(at_rate(10e3), objective="p99<1us")
    command = "ils peak lookup --objective 'p99<1us', with"
    refuse(table, rf"no rate from 10,000/s up met the objective.*{command}")


def test_closed_schedules_yield_no_rate_under_an_objective() -> None:
    """A closed load of one user met almost any objective, at a rate of no real crowd."""
    closed = a_result(a_spec(users=2))
    table = table_of(closed, objective="p99<50ms")
    refuse(table, r"waited for each answer.*sitebench ils peak lookup")
    assert rates_of(closed) == {"lookup": 10_000.0}
    # Evenly spaced operations do not count either, because people arrive at random.
    even = a_result(a_spec(rate=10e3, settings={"arrivals": "even"}))
    table = table_of(even, objective="p99<50ms")
    refuse(table, "evenly spaced, and those of people are random")


def test_unknown_percentile_is_not_reported_as_missed() -> None:
    table = table_of(at_rate(500.0, None), objective="p99<50ms")
    refuse(table, r"not known whether .* as there were too few operations.*longer")


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
    assert rates_of(*results) == {"shop": 10_000.0}


def test_operations_of_a_file_are_one_rate_even_if_its_name_contains_a_plus() -> None:
    assert rates_of(of_a_file(1, BROWSE, PAY, name="read+write")) == {"read+write": 10_000.0}


def test_rate_of_two_programs_with_different_counted_steps_is_left_out() -> None:
    both = counting(
        a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "sequence")
    )
    table = table_of(both, a_result())
    assert table.rates_at(1_000) == {"lookup": 10_000.0}
    mix = Scenario(0.04, 1_200.0, {"lookup+ils-user": 1.0})
    refuse(table, "its rate counts lookup and sequence together", mix)


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
    met_none, unknown = at_rate(500.0, 9e4), at_rate(100.0, None)
    table = table_of(met_none, unknown, objective="p99<50ms")
    assert "no rate from 100/s up met the objective" in str(table.remarks[0])
    # An invalid point is left out before.
    table = table_of(invalid(unknown), met_none, objective="p99<50ms")
    assert "no rate from 500/s up met the objective" in str(table.remarks[-1])


def test_open_and_closed_points_may_have_different_counted_steps() -> None:
    results = [
        counting(a_result(a_spec("own", users=8, rate=rate)), ("own", step))
        for rate, step in ((None, "request"), (900.0, "sequence"))
    ]
    assert rates_of(*results) == {"own": 10_000.0}


def test_rate_of_two_programs_with_the_same_counted_step_is_used() -> None:
    alike = counting(a_result(a_spec("lookup+search")), ("lookup", "lookup"), ("search", "lookup"))
    assert rates_of(alike) == {"lookup+search": 10_000.0}
    # One program of two had no operation, so it has no counted step.
    both = counting(a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "all"))
    one, none = both.steps
    idle = structs.replace(both, steps=(one, structs.replace(none, count=0)))
    assert rates_of(idle) == {"lookup+ils-user": 10_000.0}


def test_rate_kept_in_only_one_of_two_repeats_has_no_remark_on_the_limit() -> None:
    kept = Verdict(Bound.SCHEDULE, True, "kept")
    first, second = (a_result(a_spec(repeat=n)) for n in range(2))
    table = table_of(structs.replace(first, verdict=kept), second)
    assert not any("limit is higher" in str(each) for each in table.remarks)


def test_plan_without_rates_of_all_operations_at_one_size_is_refused() -> None:
    rates = {"lookup": (900.0, 800.0), "add": (None, 700.0), "connect": (400.0, None)}
    table = RateTable("m", (1_000, 5_000), rates)
    both = Scenario(0.04, 1_200.0, {"lookup": 6.0, "add": 1.0})
    assert plan(ILS, both, table).size == 5_000
    three = replace(both, mix={"lookup": 6.0, "add": 1.0, "connect": 1.0})
    refuse(table, "no size with a rate for each of lookup, add, connect", three)
    remedy = refuse(table, "no rate for rename", replace(both, mix={"rename": 1.0}))
    assert remedy.endswith("there are rates for lookup, add, connect")
    assert refuse(RateTable("m", (1_000,), {}), "no rate for lookup").endswith("with --mix")


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
