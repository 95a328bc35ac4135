"""From a run's points to the rates that a plan is made from."""

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
from sitebench.plan.parse import estimable, parse_mix, parse_rates
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


def test_a_rate_is_the_median_over_repeats() -> None:
    results = [a_result(a_spec(repeat=n), count) for n, count in enumerate((2_000, 9_000, 4_000))]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"lookup": 2_000.0}


def test_of_several_loads_the_highest_rate_counts() -> None:
    results = [
        a_result(a_spec(users=u), count) for u, count in ((2, 5_000), (8, 9_000), (64, 8_000))
    ]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"lookup": 4_500.0}


def test_an_invalid_point_is_left_out_and_the_reason_is_kept() -> None:
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
def test_a_lower_bound_is_planned_with_and_said_to_be_one(bound: Bound, cause: str) -> None:
    limited = structs.replace(
        a_result(a_spec(users=8), 9_000),
        verdict=Verdict(bound, False, "full", (), (), 9e9),
    )
    (table,) = tables_of([a_result(a_spec(users=2), 5_000), limited], ILS)
    assert table.rates_at(1_000) == {"lookup": 4_500.0}
    (remark,) = table.remarks
    assert f"a lower bound: {cause}" in str(remark)


def test_a_plan_from_nothing_but_invalid_points_is_refused_with_the_reason() -> None:
    (table,) = tables_of([invalid(a_result())], ILS)
    with pytest.raises(BadInput, match=r"no rate for lookup .*it drifts"):
        plan(ILS, ONLY_LOOKUPS, table)


def test_numbers_of_two_targets_are_never_mixed() -> None:
    slow = a_result(a_spec(target="openldap"), 2_000)
    tuned = a_result(a_spec(users=9, settings={"a": "c"}), 9_000)
    tables = tables_of([a_result(), slow, tuned], ILS)
    assert [table.machine for table in tables] == [
        "embedded, a=b",
        "openldap, a=b",
        "embedded, a=c",
    ]


def test_loads_that_differ_only_in_how_hard_they_push_are_of_one_target() -> None:
    pushed = [a_result(a_spec(users=u)) for u in (1, 2)]
    assert len(tables_of(pushed, ILS)) == 1


def test_a_window_that_went_on_until_a_percentile_was_known_is_of_the_same_target() -> None:
    specs = [a_spec(users=1), a_spec(users=2, settings={"a": "b", "until": "p99:5%"})]
    (table,) = tables_of(map(a_result, specs), ILS)
    assert table.machine == "embedded"


def test_a_kept_schedule_says_that_the_target_can_do_more() -> None:
    scheduled = structs.replace(a_result(), verdict=Verdict(Bound.SCHEDULE, True, "kept"))
    (table,) = tables_of([scheduled], ILS)
    assert "can do more" in str(table.remarks[0])


def test_a_site_is_counted_in_whole_pages_and_its_single_requests_not_at_all() -> None:
    alone = a_result(a_spec("image", suite="ps"))
    (table,) = tables_of([a_page_result(43.5), alone], PS)
    assert table.rates == {"pages": (43.5,)}


def test_the_pages_of_a_file_of_ones_own_are_planned_with() -> None:
    """`page = true` is "for `sitebench plan ps` too", which had no finished points to plan from."""
    settings = {"scenario": "shop.toml"}
    made = a_result(a_spec("shop", suite="ps", settings=settings))
    (table,) = tables_of([structs.replace(made, figures={"web_pages_per_s": 120.0})], PS)
    assert table.rates == {"pages": (120.0,)}
    (none,) = tables_of([structs.replace(made, figures={"web_pages_per_s": 0.0})], PS)
    with pytest.raises(BadInput, match="mark an operation of the scenario with `page = true`"):
        plan(PS, Scenario(0.04, 25.0), none)


AT_RANDOM = {"arrivals": "poisson"}


def test_under_an_objective_only_rates_that_met_it_count() -> None:
    specs = [a_spec(rate=rate, settings=AT_RANDOM) for rate in (10e3, 15e3)]
    results = [a_result(*pair) for pair in zip(specs, (20_000, 30_000), strict=True)]
    slow = structs.replace(results[1].clocks["latency"], p99=9e4)
    results[1] = changed(results[1], latency=slow)
    (table,) = tables_of(results, ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 10_000.0}


def at_rate(per_s: float, p99_us: float, seconds: float, users: int = 64) -> PointResult:
    """Return a window at a rate: the short one of a search, or one in which it is held."""
    spec = a_spec(rate=per_s, measure_s=seconds, users=users, settings=AT_RANDOM)
    made = a_result(spec, round(2 * per_s))
    return changed(made, latency=structs.replace(made.clocks["latency"], p99=p99_us))


def test_a_rate_that_broke_when_it_was_held_is_not_planned_with() -> None:
    """A search tries rates in short windows: of 100, 200 and 180 it held 160 for long enough."""
    short = [at_rate(100.0, 1e4, 5), at_rate(200.0, 1e4, 5), at_rate(180.0, 1e4, 5)]
    held = [at_rate(160.0, 1e4, 15), at_rate(180.0, 9e4, 15)]
    (table,) = tables_of([*short, *held], ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 160.0}


def test_what_broke_in_a_shorter_window_or_with_fewer_users_was_not_the_target() -> None:
    """A search tries once more for longer, and with more users where all were busy."""
    broke = [at_rate(180.0, 9e4, 5), at_rate(180.0, 9e4, 15, users=32)]
    (table,) = tables_of([*broke, at_rate(180.0, 1e4, 15)], ILS, Objective.parse("p99<50ms"))
    assert table.rates_at(1_000) == {"lookup": 180.0}


def test_an_objective_that_no_rate_met_is_said() -> None:
    (table,) = tables_of(
        [a_result(a_spec(rate=10e3, settings=AT_RANDOM))], ILS, Objective.parse("p99<1us")
    )
    said = (
        r"no rate from 10,000/s up met the objective.*ils peak lookup --objective 'p99<1us', with"
    )
    with pytest.raises(BadInput, match=said):
        plan(ILS, ONLY_LOOKUPS, table)


def test_users_who_wait_for_each_answer_are_no_rate_at_which_people_may_arrive() -> None:
    """A closed load of one user met nearly any objective, at a rate that no crowd may have."""
    (table,) = tables_of([a_result(a_spec(users=2))], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(BadInput, match=r"wait for each answer.*sitebench ils peak lookup"):
        plan(ILS, ONLY_LOOKUPS, table)
    (table,) = tables_of([a_result(a_spec(users=2))], ILS)
    assert table.rates_at(1_000) == {"lookup": 10_000.0}
    # Nor are operations that come one after the other, as people do not.
    even = a_result(a_spec(rate=10e3, settings={"arrivals": "even"}))
    (table,) = tables_of([even], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(BadInput, match="evenly spaced, and people come at random"):
        plan(ILS, ONLY_LOOKUPS, table)


def test_a_percentile_that_is_not_known_is_not_said_to_be_missed() -> None:
    short = a_result(a_spec(rate=500.0, settings=AT_RANDOM), 1_000)
    short = changed(short, latency=structs.replace(short.clocks["latency"], p99=None))
    (table,) = tables_of([short], ILS, Objective.parse("p99<50ms"))
    with pytest.raises(BadInput, match=r"not known whether .* for want of operations.*longer"):
        plan(ILS, ONLY_LOOKUPS, table)


def test_the_smallest_size_with_room_for_the_answer_is_taken() -> None:
    table = RateTable("m", (1_000, 10_000, 100_000), {"pages": (50.0, 40.0, 30.0)})
    assert plan(PS, Scenario(0.04, 25.0), table).size == 100_000
    assert plan(PS, Scenario(0.04, 25.0, community=9_000), table).size == 10_000
    assert plan(PS, Scenario(0.04, 25.0), table, size=1_000).size == 1_000


def test_more_than_twice_what_was_measured_is_refused_unless_insisted_on() -> None:
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


def test_a_directory_is_shared_out_among_its_machines() -> None:
    table = RateTable("m", (10_000,), {"lookup": (100.0,)})
    # 40,000 online are more than the directory measured, but four machines have 10,000 each.
    scenario = Scenario(0.04, 600.0, {"lookup": 6.0}, community=1_000_000)
    made = plan(ILS, scenario, table)
    assert made.values["machines"] == 4
    assert not any("people" in warning for warning in made.warnings)


def test_the_tightest_of_several_percentiles_is_estimated() -> None:
    assert estimable(Objective.parse("p50<10ms,p99<1s")) == (0.5, 0.01)
    with pytest.raises(BadInput, match="failures<1% cannot be estimated"):
        estimable(Objective.parse("failures<1%"))


def test_mixes_and_rates_are_pairs() -> None:
    assert parse_mix("lookup=10, add=0.5") == (("lookup", 10.0), ("add", 0.5))
    assert parse_rates("lookup=40k") == (("lookup", 40_000.0),)


@pytest.mark.parametrize(
    "text", ["", "lookup", "lookup=", "=3", "lookup=x", "lookup=-1", "a=1,a=2"]
)
def test_a_mix_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UnknownValue):
        parse_mix(text)


def counting(result: PointResult, *steps: tuple[str, str]) -> PointResult:
    """Return a result whose operations are these (program, step)."""
    (one,) = result.steps
    each = (structs.replace(one, program=program, step=step) for program, step in steps)
    return structs.replace(result, steps=tuple(each))


def test_points_that_counted_two_kinds_of_steps_make_no_rate() -> None:
    results = [
        counting(a_result(a_spec("own", users=n)), ("own", step))
        for n, step in ((2, "search"), (8, "sequence"))
    ]
    with pytest.raises(BadInput, match="counts search in some points and sequence in others"):
        tables_of(results, ILS)


def of_a_file(users: int, *operations: tuple[str, str], name: str = "shop") -> PointResult:
    """Return a result of a scenario file, whose operations are these."""
    settings = {"scenario": f"{name}.toml"}
    return counting(a_result(a_spec(name, users=users, settings=settings)), *operations)


BROWSE, PAY, LATE = ("browse", "open"), ("pay", "sequence"), ("shop", "not begun")


def test_an_operation_that_no_user_came_to_is_no_other_kind_of_rate() -> None:
    """One user for 2 s did not come to the card of one in a thousand; one arrival was late."""
    results = [of_a_file(1, BROWSE), of_a_file(8, BROWSE, PAY), of_a_file(64, BROWSE, PAY, LATE)]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"shop": 10_000.0}


def test_the_operations_of_a_file_are_one_rate_whatever_its_name() -> None:
    (table,) = tables_of([of_a_file(1, BROWSE, PAY, name="read+write")], ILS)
    assert table.rates_at(1_000) == {"read+write": 10_000.0}


def test_a_rate_of_two_programs_that_count_unlike_steps_is_left_out() -> None:
    both = counting(
        a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "sequence")
    )
    (table,) = tables_of([both, a_result()], ILS)
    assert table.rates_at(1_000) == {"lookup": 10_000.0}
    with pytest.raises(BadInput, match="its rate is of lookup and sequence together"):
        plan(ILS, Scenario(0.04, 1_200.0, {"lookup+ils-user": 1.0}), table)


def test_points_of_other_suites_and_operations_are_not_of_a_plan() -> None:
    results = [a_result(), a_page_result(43.5), a_result(a_spec("image", suite="ps"))]
    (directory,), (site,) = (tables_of(results, each) for each in (ILS, PS))
    assert list(directory.rates) == ["lookup"]
    assert list(site.rates) == ["pages"]


def test_a_machine_is_named_by_what_differs() -> None:
    (alone,) = tables_of([a_result(), a_result(a_spec(entries=5_000))], ILS)
    assert alone.machine == "embedded"
    both = [a_result(), a_result(structs.replace(a_spec(), client="ldap3"))]
    machines = ["embedded, native", "embedded, ldap3"]
    assert [each.machine for each in tables_of(both, ILS)] == machines


def test_why_no_rate_met_an_objective_begins_with_the_lowest_and_says_what_is_not_known() -> None:
    met_none, unknown = (
        changed(a_result(a_spec(rate=rate, settings=AT_RANDOM), round(2 * rate)), latency=latency)
        for rate, latency in (
            (500.0, structs.replace(a_result().clocks["latency"], p99=9e4)),
            (100.0, structs.replace(a_result().clocks["latency"], p99=None)),
        )
    )
    (table,) = tables_of([met_none, unknown], ILS, Objective.parse("p99<50ms"))
    assert "no rate from 100/s up met the objective" in str(table.remarks[0])
    # A spoiled point is left out before.
    (table,) = tables_of([invalid(unknown), met_none], ILS, Objective.parse("p99<50ms"))
    assert "no rate from 500/s up met the objective" in str(table.remarks[-1])


def test_points_on_open_schedules_may_count_otherwise_than_closed_ones() -> None:
    results = [
        counting(a_result(a_spec("own", users=8, rate=rate)), ("own", step))
        for rate, step in ((None, "request"), (900.0, "sequence"))
    ]
    (table,) = tables_of(results, ILS)
    assert table.rates_at(1_000) == {"own": 10_000.0}


def test_a_rate_of_two_programs_that_count_one_step_is_planned_with() -> None:
    alike = counting(a_result(a_spec("lookup+search")), ("lookup", "lookup"), ("search", "lookup"))
    (table,) = tables_of([alike], ILS)
    assert table.rates_at(1_000) == {"lookup+search": 10_000.0}
    # One program of two had nothing to do: it counts nothing.
    both = counting(a_result(a_spec("lookup+ils-user")), ("lookup", "lookup"), ("ils-user", "all"))
    one, none = both.steps
    idle = structs.replace(both, steps=(one, structs.replace(none, count=0)))
    (table,) = tables_of([idle], ILS)
    assert table.rates_at(1_000) == {"lookup+ils-user": 10_000.0}


def test_a_schedule_that_was_kept_once_of_two_times_says_nothing_of_more() -> None:
    kept = Verdict(Bound.SCHEDULE, True, "kept")
    results = [a_result(a_spec(repeat=n)) for n in range(2)]
    (table,) = tables_of([structs.replace(results[0], verdict=kept), results[1]], ILS)
    assert not any("can do more" in str(each) for each in table.remarks)


def test_a_size_needs_a_rate_of_every_operation_and_what_lacks_one_is_named() -> None:
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


def test_a_plan_has_the_remarks_on_its_own_rates_and_no_others() -> None:
    remarks = (
        Remark("lookup", 1_000, "mine"),
        Remark("lookup", 5_000, "of another size"),
        Remark("add", 1_000, "of another operation"),
    )
    table = RateTable("m", (1_000, 5_000), {"lookup": (900.0, 800.0)}, remarks)
    made = plan(ILS, ONLY_LOOKUPS, table, size=1_000)
    assert [each for each in made.warnings if "fewer" not in each] == ["lookup at 1k: mine"]


def test_a_size_that_the_answer_fills_is_large_enough() -> None:
    table = RateTable("m", (10_000, 50_000), {"lookup": (100.0, 100.0)})
    # 100/s of sessions of 600 s with six lookups are 10,000 people online.
    assert plan(ILS, Scenario(0.04, 600.0, {"lookup": 6.0}), table).size == 10_000


@pytest.mark.parametrize(
    ("headroom", "burst", "none"), [(0.0, 1.0, True), (0.3, 1.0, False), (0.0, 1.5, False)]
)
def test_community_has_no_remark_on_headroom(headroom: float, burst: float, none: bool) -> None:
    table = RateTable("m", (10_000,), {"lookup": (900.0,)})
    shared = "n machines are assumed to do n times as much"

    def told(words: str, scenario: Scenario) -> bool:
        return any(words in each for each in plan(ILS, scenario, table).warnings)

    for_all = replace(ONLY_LOOKUPS, community=50_000, headroom=headroom, burst=burst)
    assert (told("no headroom for peaks", for_all), told(shared, for_all)) == (none, True)
    assert not told("no headroom for peaks", ONLY_LOOKUPS)
    assert not told(shared, ONLY_LOOKUPS)
    assert not told("response time is estimated", for_all)
