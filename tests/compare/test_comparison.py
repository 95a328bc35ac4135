"""What a comparison says of repeats: words, refusals to claim, and what it leaves out."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sitebench.compare import wording as words
from sitebench.compare.comparison import NONE, TOO_FEW, Analysis, Compared, analyse
from sitebench.compare.effect import Design, effect, null, odd_and_even
from sitebench.compare.matching import Matched
from sitebench.compare.runs import Comparison, compare_runs, read_run
from sitebench.errors import BadInput
from sitebench.runs.repeats import Series
from sitebench.runs.store import RunStore
from tests.compare.made import (
    MANIFEST,
    SPOILED,
    a_repeat,
    interleaved,
    noisy,
    write_run,
)
from tests.support.points import a_spec


def series(rates: Sequence[float]) -> Series:
    found = [a_repeat(a_spec(repeat=n), rate)[1] for n, rate in enumerate(rates)]
    return Series(a_spec(), tuple(found))


def compared(
    a: Sequence[float], b: Sequence[float], design: Design = Design.PAIRS
) -> tuple[Analysis, Compared]:
    found = analyse([Matched(series(a), series(b))], design)
    return found, found.points[0]


def verdicts(point: Compared) -> dict[str, str]:
    return {row.measure.key: row.verdict for row in point.rows}


@pytest.mark.parametrize("design", Design)
def test_a_slower_target_is_called_slower_by_every_measure(design: Design) -> None:
    analysis, point = compared(noisy(10, 15_000, 1), noisy(10, 14_250, 2), design)
    assert verdicts(point) == {
        "ops_per_s": "slower",
        "p50": "slower",
        "p99": "slower",
        "target_cpu": "more CPU",
        "generator_cpu": "more CPU",
    }
    assert (analysis.rows, analysis.alpha) == (5, 0.01)
    assert words.answer(point).startswith("lookup at 1k, 64 users: B is slower: -5.")


def test_a_faster_target_is_called_faster() -> None:
    _, point = compared(noisy(10, 14_250, 2), noisy(10, 15_000, 1))
    assert verdicts(point)["ops_per_s"] == verdicts(point)["p50"] == "faster"
    assert verdicts(point)["target_cpu"] == "less CPU"


@pytest.mark.parametrize("design", Design)
def test_no_detectable_difference_is_an_answer_with_what_could_have_been_shown(
    design: Design,
) -> None:
    _, point = compared(noisy(10, 15_000, 1), noisy(10, 15_000, 3), design)
    row = point.row("ops_per_s")
    assert row is not None
    assert row.verdict == NONE
    assert row.effect.detectable is not None
    assert 1.005 < row.effect.detectable < 1.04
    said = words.answer(point)
    assert f"{NONE} in operations/s" in said
    assert f"could have shown {words.detectable(row)}" in said


@pytest.mark.parametrize(("design", "least"), [(Design.PAIRS, 8), (Design.GROUPS, 5)])
def test_too_few_repeats_claim_nothing_and_say_how_many_could(design: Design, least: int) -> None:
    a, b = noisy(least - 1, 15_000, 1), noisy(least - 1, 7_000, 2)
    _, point = compared(a, b, design)
    assert set(verdicts(point).values()) == {TOO_FEW}
    assert f"{least - 1} repeats cannot show a difference here, {least} could" in words.answer(
        point
    )
    _, point = compared([*a, 15_000], [*b, 7_000], design)
    assert verdicts(point)["ops_per_s"] == "slower"


def test_four_repeats_never_claim_even_where_mann_whitney_could() -> None:
    # One row alone could be told from 4 + 4 values at 5 %; rule 10 of the method asks for 5.
    _, point = compared([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3], Design.GROUPS)
    assert set(verdicts(point).values()) == {TOO_FEW}


def test_a_machine_that_drifts_hides_a_difference_from_groups_and_not_from_pairs() -> None:
    drift = [15_000 * (1 - 0.05 * n) for n in range(10)]
    b = [x * 0.97 for x in drift]
    assert verdicts(compared(drift, b, Design.GROUPS)[1])["ops_per_s"] == NONE
    assert verdicts(compared(drift, b, Design.PAIRS)[1])["ops_per_s"] == "slower"


def test_the_null_stands_beside_every_answer_with_as_many_values() -> None:
    _, point = compared(noisy(10, 15_000, 1), noisy(10, 14_250, 2))
    for row in point.rows:
        assert row.null is not None
        assert row.null.low is not None
        assert row.null.low < 1.0 < (row.null.high or 0)
        assert not row.alarmed


def test_repeats_that_disagree_with_themselves_raise_the_null_s_alarm() -> None:
    # Every other repeat is a tenth slower, the way `odd_and_even` pairs them: 1 2, 4 3, 5 6, ...
    pattern = [1.0, 0.9, 0.9, 1.0] * 3
    rates = [15_000 * x * (1 + n * 1e-4) for n, x in enumerate(pattern)]
    _, point = compared(rates, rates)
    assert all(row.alarmed for row in point.rows if row.measure.key != "p50")
    assert verdicts(point)["ops_per_s"] == NONE


def test_odd_and_even_repeats_take_turns_so_that_a_drift_cancels_out() -> None:
    assert odd_and_even([1, 2, 3, 4, 5, 6, 7]) == ([1, 4, 5], [2, 3, 6])


@pytest.mark.parametrize("design", Design)
def test_equal_targets_and_nulls_alarm_about_as_often_as_promised(design: Design) -> None:
    lot, alpha, rounds = random.Random(3), 0.05, 1_000
    alarms = [0, 0]
    for _ in range(rounds):
        a, b = ([lot.gauss(0, 0.03) for _ in range(12)] for _ in range(2))
        found = effect(a, b, design, alpha), null(a, [x - 0.05 for x in b], design, alpha)
        for n, each in enumerate(found):
            alarms[n] += each is not None and each.differs
    spread = 4 * (rounds * alpha * (1 - alpha)) ** 0.5
    for count in alarms:
        assert 0 < count <= rounds * alpha + spread


def spoil(found: Series, *repeats: int) -> Series:
    each = (replace(r, verdict=SPOILED) if r.spec.repeat in repeats else r for r in found.results)
    return Series(found.spec, tuple(each))


def test_a_repeat_that_is_the_tester_s_is_left_out_with_its_partner_and_named() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 14_250, 2))
    pairs = analyse([Matched(spoil(a, 3), b)], Design.PAIRS).points[0]
    assert pairs.left_out == ("A repeat 4: generator (the tester was used up)",)
    assert {(len(row.a), len(row.b)) for row in pairs.rows} == {(9, 9)}
    groups = analyse([Matched(spoil(a, 3), b)], Design.GROUPS).points[0]
    assert {(len(row.a), len(row.b)) for row in groups.rows} == {(9, 10)}


def test_a_point_that_is_mostly_the_tester_s_is_not_compared() -> None:
    a, b = series(noisy(10, 15_000, 1)), series(noisy(10, 14_250, 2))
    analysis = analyse([Matched(a, spoil(b, 1, 2, 3))], Design.PAIRS)
    (point,) = analysis.points
    assert point.rows == ()
    assert len(point.left_out) == 4
    assert words.answer(point) == "lookup at 1k, 64 users: not compared"
    assert words.decided(analysis) == "Nothing was compared."


def test_a_measure_that_some_repeats_lack_is_named_and_does_not_bend_the_rest() -> None:
    # Fewer than 10,000 operations have no p99.
    _, point = compared([*noisy(9, 15_000, 1), 4_000], noisy(10, 14_250, 2))
    assert point.missing == ("Latency p99: 1 of 20 repeats have none",)
    assert "p99" not in verdicts(point)


def test_more_points_ask_for_more_repeats() -> None:
    matched = [
        Matched(series(noisy(8, 15_000, n)), series(noisy(8, 9_000, n + 50))) for n in range(3)
    ]
    analysis = analyse(matched, Design.PAIRS)
    assert analysis.rows == 15
    assert {row.least for point in analysis.points for row in point.rows} == {10}
    assert {row.verdict for point in analysis.points for row in point.rows} == {TOO_FEW}


def of_files(a: Path, b: Path, *varying: str) -> Comparison:
    return compare_runs(read_run(a), read_run(b), varying)


def test_interleaved_runs_are_analysed_as_pairs_and_others_as_groups(tmp_path: Path) -> None:
    a = interleaved(tmp_path / "a", noisy(10, 15_000, 1), "a")
    b = interleaved(tmp_path / "b", noisy(10, 14_250, 2), "b")
    found = of_files(a, b)
    assert found.analysis.design is Design.PAIRS
    assert (found.a.label, found.b.label) == ("value a", "value b")
    assert found.remarks == ()
    c = write_run(tmp_path / "c", (a_spec(), noisy(10, 14_250, 2)))
    apart = of_files(a, c)
    assert apart.analysis.design is Design.GROUPS
    assert "not interleaved, one after the other" in apart.remarks[0].message
    assert "--interleave" in apart.remarks[0].remedy


def test_what_an_interleaved_command_varied_needs_no_word(tmp_path: Path) -> None:
    def side(name: str, users: int) -> Path:
        manifest = {**MANIFEST, "compared": {"id": "one", "side": name, "value": str(users)}}
        point = (a_spec(users=users), noisy(8, 15_000, users))
        return write_run(tmp_path / name, point, manifest=manifest)

    found = of_files(side("a", 8), side("b", 16))
    assert [str(each) for each in found.asked] == ["users (8 / 16)"]
    assert len(found.analysis.points) == 1


def test_another_machine_and_another_version_are_told_loudly(tmp_path: Path) -> None:
    other = {
        **MANIFEST,
        "cpu": {"model": "another", "cores": 2, "usable": 2},
        "versions": {"sitebench": "0.2.0"},
    }
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    b = write_run(tmp_path / "b", (a_spec(), noisy(5, 15_000, 2)), manifest=other)
    said = [remark.message for remark in of_files(a, b).remarks]
    assert said[0] == "THE TESTER'S MACHINE IS NOT THE SAME, by its processor"
    assert said[1] == "the tester is not the same: sitebench 0.1.0 / 0.2.0"


def test_points_not_done_or_in_one_run_only_are_told(tmp_path: Path) -> None:
    each = (a_spec(), noisy(5, 15_000, 1))
    a = write_run(tmp_path / "a", each, planned=[a_spec(repeat=5)])
    b = write_run(tmp_path / "b", each, (a_spec("add"), [100.0]))
    said = [remark.message for remark in of_files(a, b).remarks]
    assert "A has not finished lookup at 1k, 64 users (1 measurements)" in said
    assert "only B has add at 1k, 64 users" in said


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    (tmp_path / "link").symlink_to(a)
    with pytest.raises(BadInput, match="the same file"):
        of_files(a, tmp_path / "link")


def test_a_comparison_changes_neither_file(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", (a_spec(), noisy(5, 15_000, 1)))
    b = write_run(tmp_path / "b", (a_spec(), noisy(5, 15_000, 2)))
    with RunStore(a), RunStore(b):
        pass  # what was left of their logs is in the files now
    before = a.read_bytes(), b.read_bytes(), sorted(tmp_path.iterdir())
    of_files(a, b)
    assert (a.read_bytes(), b.read_bytes(), sorted(tmp_path.iterdir())) == before
