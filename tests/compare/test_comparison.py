"""The statements of a comparison: words, undecided results, and omitted points."""

import json
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitebench.compare import wording as words
from sitebench.compare.comparison import (
    APART,
    NONE,
    TOO_FEW,
    Analysis,
    Compared,
    Design,
    analyse,
    repeats_to_tell,
)
from sitebench.compare.effect import effect, null, odd_and_even
from sitebench.compare.matching import Matched
from sitebench.compare.runs import Comparison, compare_runs, read_run
from sitebench.errors import BadInput
from sitebench.runs.repeats import Series
from sitebench.runs.store import RunStore
from sitebench.verdict.verdict import Verdict
from tests.compare.made import MANIFEST, SPOILED, a_repeat, interleaved, noisy, write_run
from tests.support.points import a_spec


def series(
    rates: Sequence[float],
    *,
    failing: float = 0.0,
    unanswered: float = 0.0,
    waited_ns: int = 10_000_000_000,
    **spec: Any,
) -> Series:
    repeats = (
        a_repeat(a_spec(repeat=n, **spec), rate, failing, unanswered, waited_ns)[1]
        for n, rate in enumerate(rates)
    )
    return Series(a_spec(**spec), tuple(repeats))


def compare(a: Series, b: Series, design: Design = Design.PAIRS) -> Compared:
    (point,) = analyse([Matched(a, b)], design).points
    return point


def compared(
    a: Sequence[float], b: Sequence[float], design: Design = Design.PAIRS
) -> tuple[Analysis, Compared]:
    analysis = analyse([Matched(series(a), series(b))], design)
    return analysis, analysis.points[0]


def verdicts(point: Compared) -> dict[str, str]:
    return {row.measure.key: row.verdict for row in point.rows}


def test_cpu_cost_of_an_operation_is_in_microseconds() -> None:
    _, point = compared([20_000.0] * 6, [10_000.0] * 6)
    row = point.row("target_cpu")
    assert row is not None
    # 1.9 s of CPU in 2 s.
    assert (*row.a, *row.b) == pytest.approx([47.5] * 6 + [95.0] * 6)


def test_slower_target_is_reported_as_slower_in_every_measure() -> None:
    analysis, point = compared(noisy(10, 15_000, 1), noisy(10, 14_250, 2))
    assert verdicts(point) == {
        **dict.fromkeys(("ops_per_s", "p50", "p95", "p99"), "slower"),
        **dict.fromkeys(("target_cpu", "generator_cpu"), "more CPU"),
    }
    assert analysis.rows == 6
    # Operations/s has half of the error probability of 5 %; if it finds a difference, the other
    # rows share that half too.
    assert [row.alpha for row in point.rows] == [0.025, *[0.01] * 5]
    assert words.answer(point).startswith("lookup at 1k, 64 users: B is slower: -5.")


def test_a_faster_target_is_reported_as_faster() -> None:
    _, point = compared(noisy(10, 14_250, 2), noisy(10, 15_000, 1))
    assert verdicts(point)["ops_per_s"] == verdicts(point)["p50"] == "faster"
    assert verdicts(point)["target_cpu"] == "less CPU"


def test_comparison_without_a_difference_states_the_detectable_difference() -> None:
    _, point = compared(noisy(10, 15_000, 1), noisy(10, 15_000, 3))
    row = point.row("ops_per_s")
    assert row is not None
    assert row.verdict == NONE
    assert row.effect.detectable is not None
    assert 1.005 < row.effect.detectable < 1.04
    said = words.answer(point)
    assert f"{NONE} in operations/s" in said
    assert f"could have shown about {words.detectable(row)}" in said


def test_too_few_repeats_are_undecided_and_name_the_required_number() -> None:
    a, b = noisy(6, 15_000, 1), noisy(6, 7_000, 2)
    _, point = compared(a, b)
    assert set(verdicts(point).values()) == {TOO_FEW}
    assert "too few repeats (6); at least 7 are needed" in words.answer(point)
    _, point = compared([*a, 15_000], [*b, 7_000])
    assert verdicts(point)["ops_per_s"] == "slower"
    assert [row.least for row in point.rows] == [7, 8, 8, 8, 8, 8]
    _, point = compared([*a, 15_000], [*a, 14_990])
    assert [row.least for row in point.rows] == [7, 9, 9, 9, 9, 9]


def test_ratio_of_pairs_is_not_labelled_as_ratio_of_the_medians() -> None:
    """Medians of 4.6 and 5.18 ms stood beside "B/A +15.0 %", the ratio of pairs."""
    analysis, point = compared(noisy(10, 15_000, 1), noisy(10, 14_000, 2))
    answers, _ = words.tables(point, analysis.design)
    assert answers.columns == ("Median of", "A", "B", "typical pair", "interval", "B is")
    assert "Typical pair: " in words.meaning(analysis.design)
    apart, point = compared(noisy(10, 15_000, 1), noisy(10, 14_000, 2), design=Design.APART)
    (answers,) = words.tables(point, apart.design)
    assert answers.columns[3] == "B/A"
    assert "Typical pair" not in words.meaning(apart.design)


def test_comparison_at_a_fixed_rate_lists_latency_before_the_rate() -> None:
    both = series(noisy(10, 15_000, 1), rate=15_000)
    rows = compare(both, both).rows
    assert [row.measure.key for row in rows][:2] == ["p50", "ops_per_s"]


def test_runs_measured_apart_are_undecided_within_a_factor_of_two() -> None:
    analysis, point = compared(noisy(40, 15_000, 1), noisy(40, 7_500, 2), Design.APART)
    assert set(verdicts(point).values()) == {APART}
    assert words.answer(point).startswith(
        "lookup at 1k, 64 users: measured apart: not decided (-50."
    )
    assert point.undecided == "measured apart: not decided"
    assert not point.slower
    assert [row.null for row in point.rows] == [None] * 6
    assert "The runs were measured apart" in words.describe_procedure(analysis)


def test_runs_measured_apart_by_a_factor_of_150_are_decided() -> None:
    """An index off and on: "not decided" was statistically right, and absurd."""
    slow, fast = noisy(8, 100, 1, 0.2), noisy(8, 15_000, 2, 0.2)
    _, point = compared(slow, fast, Design.APART)
    assert point.rows[0].verdict == "faster"
    assert (point.slower, point.undecided) == (False, "")
    answer = words.answer(point)
    assert answer.startswith("lookup at 1k, 64 users: B is faster (operations/s ")
    assert answer.endswith("measured apart: do not quote the factor")
    assert "%" not in answer
    _, point = compared(fast, slow, Design.APART)
    assert point.slower
    # The medians differ by a factor of 2.2, and the nearer ends of their intervals by less than 2.
    wide = [2.2 * rate for rate in noisy(8, 15_000, 3, 0.2)]
    _, point = compared(noisy(8, 15_000, 1, 0.2), wide, Design.APART)
    assert point.undecided == "measured apart: not decided"
    # Five repeats have no interval.
    _, point = compared(slow[:5], fast[:5], Design.APART)
    assert point.undecided == "measured apart: not decided"


def test_fast_failures_do_not_decide_a_comparison_of_runs_measured_apart() -> None:
    a, b = series(noisy(8, 100, 1)), series(noisy(8, 15_000, 2), failing=0.3)
    point = compare(a, b, Design.APART)
    assert point.rows[0].verdict == "faster"
    assert point.undecided == "measured apart: not decided"


def mix(b_rate: float, seed: int, repeats: int = 10) -> Series:
    """Return repeats of a search and a rarer modify, whose rate and latency follow `b_rate`."""
    results = []
    for repeat in range(repeats):
        lot = random.Random(f"{seed} {repeat}")
        spec = a_spec("mix", rate=8_000, repeat=repeat)
        search, modify = (
            a_repeat(replace(spec, operation=name), rate * (1 + lot.gauss(0, 0.01)))[1]
            for name, rate in (("search", 8_000.0), ("modify", b_rate))
        )
        results.append(replace(search, spec=spec, steps=(*search.steps, *modify.steps)))
    return Series(replace(results[0].spec, repeat=0), tuple(results))


def test_one_slow_operation_of_a_mix_is_noticed() -> None:
    """The total has the percentiles of the frequent operation, and hid a factor of three."""
    analysis = analyse([Matched(mix(3_000, 1), mix(1_000, 2))], Design.PAIRS)
    whole, search, modify = analysis.points
    assert [point.title for point in analysis.points] == [
        "mix at 1k, 8,000/s",
        "search of mix at 1k, 8,000/s",
        "modify of mix at 1k, 8,000/s",
    ]
    assert not whole.slower
    assert verdicts(search) == {"p50": NONE, "p95": NONE}
    assert modify.slower
    assert verdicts(modify)["p50"] == "slower"
    # Three points share the probability of a false alarm.
    assert whole.rows[0].alpha == pytest.approx(0.05 / 3 / 2)
    assert repeats_to_tell(1, series([15_000])) < repeats_to_tell(1, mix(3_000, 1, repeats=1))


def test_reason_for_not_comparing_a_mix_is_given_once() -> None:
    b = with_verdict(mix(1_000, 2), SPOILED, 1, 2, 3)
    assert compare(mix(3_000, 1), b).undecided == "not compared"


def test_percentile_missing_in_all_repeats_is_undecided() -> None:
    """A window below 10,000 operations has no p99; this passed as equal p99."""
    _, point = compared(noisy(10, 4_000, 1), noisy(10, 4_000, 2))
    assert "p99" not in verdicts(point)
    assert point.undecided == "no repeat has a latency p99"


def test_pairs_show_a_difference_despite_drift_of_the_machine() -> None:
    drift = [15_000 * (1 - 0.05 * n) for n in range(10)]
    assert verdicts(compared(drift, [x * 0.97 for x in drift])[1])["ops_per_s"] == "slower"


def test_every_row_has_an_aa_null_interval_that_contains_one() -> None:
    _, point = compared(noisy(10, 15_000, 1), noisy(10, 14_250, 2))
    for row in point.rows:
        assert row.null is not None
        assert row.null.low is not None
        assert row.null.low < 1.0 < (row.null.high or 0)
        assert not row.alarm


def test_disagreeing_repeats_of_one_side_raise_the_aa_null_alarm() -> None:
    # Every second repeat is a tenth slower, in the order in which `odd_and_even` pairs them: 1 2, 4
    # 3, 5 6, ...
    pattern = [1.0, 0.9, 0.9, 1.0] * 3
    rates = [15_000 * x * (1 + n * 1e-4) for n, x in enumerate(pattern)]
    _, point = compared(rates, rates)
    assert all(row.alarm for row in point.rows if row.measure.key != "p50")
    assert verdicts(point)["ops_per_s"] == NONE


def test_odd_and_even_repeats_alternate_so_that_a_drift_cancels_out() -> None:
    assert odd_and_even([1, 2, 3, 4, 5, 6, 7]) == ([1, 4, 5], [2, 3, 6])


def test_aa_null_alarms_are_as_frequent_as_the_stated_level() -> None:
    lot, alpha, rounds = random.Random(3), 0.05, 1_000
    alarms = [0, 0]
    for _ in range(rounds):
        a, b = ([lot.gauss(0, 0.03) for _ in range(12)] for _ in range(2))
        found = effect(a, b, alpha), null(a, [x - 0.05 for x in b], alpha)
        for n, each in enumerate(found):
            alarms[n] += each is not None and each.differs
    spread = 4 * (rounds * alpha * (1 - alpha)) ** 0.5
    for count in alarms:
        assert 0 < count <= rounds * alpha + spread


def test_target_with_fast_failures_is_reported_as_worse() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 20_000, 2), failing=0.1)
    point = compare(a, b)
    row = point.row("succeeded")
    assert row is not None
    assert (row.median_a, row.median_b) == pytest.approx((100, 90), abs=0.1)
    assert verdicts(point) | {"succeeded": "fails more", "ops_per_s": "faster"} == verdicts(point)
    assert point.slower
    said = words.answer(point)
    assert "B fails more: 90.000% succeeded, of A 100.000%; B is faster: +" in said
    assert verdicts(compare(b, a))["succeeded"] == "fails less"


def test_one_failure_in_ten_thousand_is_reported() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 15_000, 2), failing=0.000_1)
    point = compare(a, b)
    assert verdicts(point)["succeeded"] == "fails more"
    assert "Succeeded -0.010%" in words.answer(point)


def test_table_without_failures_has_no_failure_row() -> None:
    assert compared(noisy(10, 15_000, 1), noisy(10, 15_000, 2))[1].row("succeeded") is None


def test_unanswered_operations_of_side_b_can_only_raise_its_percentile() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 15_000, 2), unanswered=0.02)
    row = compare(a, b).row("p99")
    assert row is not None
    assert row.verdict == "slower"
    assert row.median_b >= 10e6
    point = compare(b, a)
    assert point.row("p99") is None
    assert "Latency p99: 10 of 20 repeats have none" in map(str, point.missing)
    assert "some repeats have no latency p99" in point.undecided
    # Operations cut off by the end of a window may have waited for less time than any completed
    # operation took.
    cut = series(noisy(10, 20_000, 2), unanswered=0.02, waited_ns=1_000)
    assert compare(a, cut).row("p99") is None


def with_verdict(whole: Series, verdict: Verdict, *repeats: int) -> Series:
    """Return the series with another verdict of some repeats, or of all if none are named."""
    results = (
        replace(r, verdict=verdict) if not repeats or r.spec.repeat in repeats else r
        for r in whole.results
    )
    return Series(whole.spec, tuple(results))


LIMITED = Verdict("generator", False, "the load generator was used up")


def test_repeat_limited_by_the_generator_is_excluded_with_its_pair_and_named() -> None:
    a, b = with_verdict(series(noisy(10, 15_000, 1)), SPOILED, 3), series(noisy(10, 14_250, 2))
    pairs = compare(a, b)
    assert pairs.left_out == ("A repeat 4: unsettled (it drifted)",)
    assert {(len(row.a), len(row.b)) for row in pairs.rows} == {(9, 9)}
    apart = compare(a, b, Design.APART)
    assert {(len(row.a), len(row.b)) for row in apart.rows} == {(9, 10)}


def test_points_limited_by_the_generator_compare_costs_but_not_rates() -> None:
    b = with_verdict(series(noisy(10, 14_250, 2)), LIMITED)
    point = compare(series(noisy(10, 15_000, 1)), b)
    assert verdicts(point) == {"target_cpu": "more CPU"}
    said = words.answer(point)
    assert said.startswith("lookup at 1k, 64 users: B takes more CPU: +5.")
    assert " target CPU/op (" in said
    reason = "the load generator was the limit in 10 of 10 repeats of B."
    assert said.endswith(f"). Rates and latencies were not compared: {reason}")
    assert point.left_out[-1].endswith("only what an operation costs the target is compared")
    assert point.undecided == "its rates are not compared"
    assert not point.slower


def test_limit_set_by_other_programs_is_not_blamed_on_the_load_generator() -> None:
    limited = Verdict("others", False, "other programs used 1.43 of 2 cores")
    b = with_verdict(series(noisy(10, 14_250, 2)), limited)
    said = words.answer(compare(series(noisy(10, 15_000, 1)), b))
    assert "other programs had the cores in 10 of 10 repeats of B." in said


@pytest.mark.parametrize(
    ("rates", "limited", "stamped"),
    [
        ((15_000, 14_000), False, ("Slower", "bad")),
        ((14_000, 15_000), False, ("Faster", "good")),
        ((15_000, 15_000), False, ("No difference", "")),
        ((15_000, 14_000), True, ("More CPU", "doubt")),
        ((14_000, 15_000), True, ("Less CPU", "good")),
        ((15_000, 15_000), True, ("Rates not compared", "doubt")),
    ],
)
def test_stamp_of_a_comparison_states_its_verdict(
    rates: tuple[float, float], limited: bool, stamped: tuple[str, str]
) -> None:
    """The stamp said "No difference" of rates that were not compared, beside a CPU difference."""
    a, b = (series(noisy(10, rate, seed)) for seed, rate in enumerate(rates, 1))
    assert words.stamp(compare(a, with_verdict(b, LIMITED) if limited else b)) == stamped


def test_point_with_mostly_unusable_repeats_is_not_compared() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 14_250, 2))
    analysis = analyse([Matched(a, with_verdict(b, SPOILED, 1, 2, 3))], Design.PAIRS)
    (point,) = analysis.points
    assert point.rows == ()
    assert point.left_out == (
        "B 3 of 10 repeats: unsettled (repeat 2: it drifted)",
        "more than a quarter of its repeats: the point is not compared",
    )
    assert words.answer(point) == "lookup at 1k, 64 users: not compared"
    assert words.describe_procedure(analysis) == "Nothing was compared."


def test_measure_missing_in_some_repeats_is_named_and_changes_no_other_measure() -> None:
    # Fewer than 10,000 operations have no p99.
    _, point = compared([*noisy(9, 15_000, 1), 4_000], noisy(10, 14_250, 2))
    assert list(map(str, point.missing)) == ["Latency p99: 1 of 20 repeats have none"]
    assert "p99" not in verdicts(point)


def test_comparison_of_more_points_needs_more_repeats() -> None:
    matched = [
        Matched(series(noisy(8, 15_000, n)), series(noisy(8, 9_000, n + 50))) for n in range(3)
    ]
    analysis = analyse(matched, Design.PAIRS)
    assert analysis.rows == 18
    for rate, *rest in (point.rows for point in analysis.points):
        assert (rate.least, rate.verdict) == (8, "slower")
        assert {(row.least, row.verdict) for row in rest} == {(10, TOO_FEW)}


def of_files(a: Path, b: Path, *varying: str) -> Comparison:
    return compare_runs(read_run(a), read_run(b), varying)


def test_only_interleaved_runs_are_analysed_as_pairs(tmp_path: Path) -> None:
    a = interleaved(tmp_path / "a", noisy(10, 15_000, 1), "a")
    b = interleaved(tmp_path / "b", noisy(10, 14_250, 2), "b")
    pairs = of_files(a, b)
    assert pairs.analysis.design is Design.PAIRS
    assert (pairs.a.label, pairs.b.label, pairs.remarks) == ("value a", "value b", ())
    c = write_run(tmp_path / "c", (a_spec(), noisy(10, 14_250, 2)))
    apart = of_files(a, c)
    assert apart.analysis.design is Design.APART
    assert "not interleaved, one after the other" in apart.remarks[0].message
    assert "--interleave" in apart.remarks[0].remedy


@pytest.mark.parametrize(
    ("targets", "restart", "told"),
    [
        (("ldap://127.0.0.1:1", "ldap://127.0.0.1:2"), None, True),
        (("ldap://127.0.0.1:1", "ldap://127.0.0.1:2"), "systemctl restart {}", False),
        (("ldap://127.0.0.1:1", "ldap://127.0.0.1:1"), None, False),
        (("embedded", "openldap"), None, False),
    ],
)
def test_comparison_of_two_running_servers_has_a_remark(
    tmp_path: Path, targets: tuple[str, str], restart: str | None, *, told: bool
) -> None:
    facts = {"restart": restart} if restart else {}
    a, b = (
        interleaved(
            tmp_path / side, noisy(8, 15_000, ord(side)), side, a_spec(target=target), facts=facts
        )
        for side, target in zip("ab", targets, strict=True)
    )
    remarks = of_files(a, b).remarks
    assert any("each one running server" in remark.message for remark in remarks) is told


def test_unfinished_comparison_is_undecided(tmp_path: Path) -> None:
    # Analyses at 8, 10, ... 40 repeats find a difference between equal sides in one comparison of
    # ten.
    facts = {"command": "ils run", "seed": 1, "repeats": 12}
    for repeats, rows in ((11, 0), (12, 6)):
        a, b = (
            interleaved(tmp_path / f"{side}{repeats}", noisy(repeats, rate, 1), side, facts=facts)
            for side, rate in (("a", 15_000), ("b", 7_500))
        )
        (point,) = of_files(a, b).analysis.points
        assert len(point.rows) == rows
    early = of_files(tmp_path / "a11", tmp_path / "b11").analysis.points[0]
    assert early.left_out == ("11 of 12 repeats are measured: the comparison follows the last",)
    assert early.undecided == "not compared"


def test_option_varied_by_an_interleaved_command_needs_no_consent(tmp_path: Path) -> None:
    a, b = (
        interleaved(tmp_path / side, noisy(8, 15_000, users), side, a_spec(users=users))
        for side, users in (("a", 8), ("b", 16))
    )
    comparison = of_files(a, b)
    assert [str(option) for option in comparison.options] == ["users (8 / 16)"]
    assert len(comparison.analysis.points) == 1


def test_different_machines_and_versions_are_reported_in_capital_letters(tmp_path: Path) -> None:
    machine = {"cpu": {"model": "another", "cores": 2, "usable": 2}}
    other = {**MANIFEST, **machine, "versions": {"sitebench": "0.2.0"}}
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    b = write_run(tmp_path / "b", (a_spec(), noisy(5, 15_000, 2)), manifest=other)
    said = [remark.message for remark in of_files(a, b).remarks]
    assert said[0] == "THE LOAD GENERATORS RAN ON DIFFERENT MACHINES, by their processor"
    assert said[1] == "the load generator is not the same: sitebench 0.1.0 / 0.2.0"


def test_runs_of_different_methods_are_refused(tmp_path: Path) -> None:
    point = (a_spec(), noisy(5, 15_000, 1))
    a = write_run(tmp_path / "a", point)
    b = write_run(tmp_path / "b", point, manifest={**MANIFEST, "method": 2})
    with pytest.raises(BadInput, match="different versions of the method, 1 and 2"):
        of_files(a, b)


def test_unfinished_and_unmatched_points_are_reported(tmp_path: Path) -> None:
    each = (a_spec(), noisy(5, 15_000, 1))
    a = write_run(tmp_path / "a", each, planned=[a_spec(repeat=5)])
    b = write_run(tmp_path / "b", each, (a_spec("add"), [100.0]))
    said = [remark.message for remark in of_files(a, b).remarks]
    assert "A has not finished lookup at 1k, 64 users (1 measurement)" in said
    assert "only B has add at 1k, 64 users" in said


def test_runs_with_different_counted_steps_are_not_compared(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / name, (a_spec(), [1_000.0] * 6)) for name in "ab")
    with sqlite3.connect(b) as file:
        # A sequence of the same name that counts its passes in B.
        names = ('"step": "lookup"', '"step": "sequence"')
        file.execute("UPDATE points SET result = replace(result, ?, ?)", names)
    with pytest.raises(BadInput, match="counts lookup as operations in A, and sequence in B"):
        of_files(a, b)


def test_runs_are_compared_if_one_lacks_a_rare_operation(tmp_path: Path) -> None:
    """The scenario file is the same, and the cards of its deck are drawn at random."""
    spec = a_spec("browse", settings={"scenario": "shop.toml"})
    a, b = (write_run(tmp_path / name, (spec, [1_000.0] * 6)) for name in "ab")
    with sqlite3.connect(b) as file:
        (text,) = file.execute("SELECT result FROM points LIMIT 1").fetchone()
        (browse,) = json.loads(text)["steps"]
        both = [browse, {**browse, "program": "pay", "step": "sequence"}]
        steps = "UPDATE points SET result = json_set(result, '$.steps', json(?))"
        file.execute(steps, (json.dumps(both),))
    whole, _, pay = of_files(a, b).analysis.points
    assert whole.rows
    assert (pay.title, pay.undecided) == ("pay of browse at 1k, 64 users", "not compared")


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    (tmp_path / "link").symlink_to(a)
    with pytest.raises(BadInput, match="the same file"):
        of_files(a, tmp_path / "link")


def test_a_comparison_changes_neither_run_file(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    b = write_run(tmp_path / "b", (a_spec(), noisy(5, 15_000, 2)))
    with RunStore(a), RunStore(b):
        pass  # what was left of their logs is in the files now
    before = a.read_bytes(), b.read_bytes(), sorted(tmp_path.iterdir())
    of_files(a, b)
    assert (a.read_bytes(), b.read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize(("points", "least"), [(1, 9), (2, 10), (3, 11), (4, 11), (40, 14)])
def test_advised_number_of_repeats_is_the_minimum(points: int, least: int) -> None:
    def undecided(repeats: int) -> str:
        same = series(noisy(repeats, 15_000, 1))
        return analyse([Matched(same, same)] * points, Design.PAIRS).points[0].undecided

    assert repeats_to_tell(points, series([15_000])) == least
    assert "too few repeats" in undecided(least - 1)
    assert "too few repeats" not in undecided(least)
