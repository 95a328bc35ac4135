"""The figures of a window: counts, and the parts of a request's time."""

from dataclasses import replace
from typing import Any

import pytest

from sitebench.counts.metrics import LATENCY, SERVICE, WRONG
from sitebench.http.mix import off_by
from sitebench.verdict.warning import PointWarning, WarningKind
from tests.support.drains import histogram
from tests.web_bench.made import SECONDS, a_result, a_tally
from web_bench.paper.figures import (
    fairness,
    figure_of,
    figures,
    in_progress,
    latency_s,
    warnings,
)
from web_bench.workload import find, parse

STATIC = find("webbench1-static")


def of_window(**more: int) -> dict[str, Any]:
    """Return the figures of 20,000 requests of 8 ms."""
    return figures(a_tally(STATIC, 20_000, 8_000_000, **more), [STATIC])


def test_request_counts_in_its_class_with_the_bytes_of_head_and_body() -> None:
    found = of_window()
    assert found["requests_per_s"] == pytest.approx(1_000, rel=1e-6)
    assert found["connects_per_s"] == pytest.approx(1_000, rel=1e-6)
    assert found["mean_bytes"] == pytest.approx(8_348.16)
    assert found["bytes_per_request"] == pytest.approx(8_548.16)
    assert found["mbit_per_s"] == pytest.approx(8 * 8_548.16 * 1_000 / 1e6, rel=1e-6)


def test_parts_of_a_latency_add_up_to_the_latency_and_tls_is_a_separate_part() -> None:
    found = of_window(tls_ns=3_000_000)
    split = {name: 1e3 * part for name, part in found["split_s"].items()}
    expected = {"connect": 1.0, "tls": 3.0, "first_byte": 2.0, "rest": 2.0}
    assert split == pytest.approx(expected, rel=0.02)
    assert sum(found["split_s"].values()) == pytest.approx(8e-3, rel=0.01)


def test_unmeasured_figures_are_none_not_zero() -> None:
    tally = a_tally(STATIC, 20_000, 8_000_000)
    for step in ("request", "first byte", "handshake"):
        tally.due.pop((STATIC.name, step), None)
    found = figures(tally, [STATIC])
    assert found["split_s"] is None
    assert found["clients"] is None


def test_mean_latency_includes_unanswered_requests_with_their_waiting_time() -> None:
    """The mean of answered requests was 1.7 ms, although one in a hundred waited three seconds."""
    result = a_result(STATIC.name, 1, 1_000, latency_ms=2, lost=200)
    waited_s = 20_000 * 2e-3 + 200 * 3
    assert latency_s(result) == pytest.approx(waited_s / 20_200, rel=0.01)
    assert "mean" in result.clocks[LATENCY].at_least
    assert in_progress(result) == pytest.approx(waited_s / SECONDS, rel=0.01)
    # The parts are those of answered requests.
    assert sum(result.figures["split_s"].values()) == pytest.approx(2e-3, rel=0.01)


def test_requests_are_not_parts_of_an_operation_of_several_steps() -> None:
    """The parts were those of a request, beside the mean of two or more."""
    steps = "step = [{ name = 'one', get = '/a' }, { name = 'two', get = '/b' }]"
    shop = parse(f"[[operation]]\nname = 'buy'\n{steps}\n", "shop")
    tally = a_tally(STATIC, 20_000, 8_000_000)
    tally.due = {("shop", step): each for (_, step), each in tally.due.items()}
    assert figures(tally, [shop])["split_s"] is None


def test_pauses_of_users_are_recognised_by_their_waiting_time() -> None:
    tally = a_tally(STATIC, 20_000, 8_000_000)
    tally.lane_ns = 40 * 10**9
    assert figures(tally, [STATIC])["pauses"] is False
    tally.waiting_ns = 20 * 10**9
    assert figures(tally, [STATIC])["pauses"] is True


@pytest.mark.parametrize(
    "asks", ["head = '/a'", "get = '/a'\nheaders.Range = 'bytes=0-9'\nexpect.status = 206"]
)
def test_answers_other_than_whole_files_have_no_expected_mean_bytes(asks: str) -> None:
    (first,) = parse(f"[[operation]]\n{asks}\nexpect.length = 10\n", STATIC.name).classes
    workload = replace(STATIC, classes=(first, *STATIC.classes[1:]))
    found = figures(a_tally(workload, 20_000, 8_000_000), [workload])
    assert found["mean_bytes"] is None
    assert warnings(found) == []


def test_mix_has_every_class_with_its_requested_share() -> None:
    found = of_window()["mix"]["webbench1-static"]
    assert found["2k"] == {"count": 5_200, "percent": 26.0, "asked_percent": 26.0, "failed": 0}
    assert len(found) == 10


def test_fairness_compares_the_numbers_of_requests_of_clients() -> None:
    names = ("least", "mean", "most", "variation")
    spread = pytest.approx(0.408, abs=1e-3)
    assert fairness([10, 20, 30]) == dict(zip(names, (10, 20.0, 30, spread), strict=True))
    # A client without requests beside a served client is unfairness.
    assert fairness([0, 20]) == dict(zip(names, (0, 10.0, 20, 1.0), strict=True))
    assert fairness([10]) is None
    assert fairness([0, 0]) is None


def warned(requests_per_s: float = 1_000, **changes: Any) -> list[PointWarning]:
    """Return the warnings of a window of silicon-surf in which some figures differ."""
    return warnings({**a_result("silicon-surf", 48, requests_per_s).figures, **changes})


def test_bytes_that_differ_from_the_files_are_a_warning() -> None:
    """The WebStone report of 1996 has 19 KB per connection, for files of 7 KB."""
    assert warned() == []
    (warning,) = warned(bytes_per_request=19_852.0)
    assert warning.kind == WarningKind.OTHER_FILES
    assert "19,852 bytes, and the workload's mean is 8,006" in warning.message
    assert warned(900 / SECONDS, bytes_per_request=19_852.0) == []


def test_failed_request_counts_as_no_answer_and_no_connect() -> None:
    tally = a_tally(STATIC, 20_000, 8_000_000)
    for step in ("2k", "connect"):
        tally.steps[STATIC.name, step].failures["timeout"] = 1_000
    found = figures(tally, [STATIC])
    assert found["requests_per_s"] == pytest.approx(19_000 / SECONDS, rel=1e-6)
    assert found["connects_per_s"] == pytest.approx(19_000 / SECONDS, rel=1e-6)


def test_split_of_the_latency_includes_the_time_of_wrong_answers() -> None:
    """Sums contain their connecting and first byte: without their whole time nothing was left."""
    tally = a_tally(STATIC, 20_000, 8_000_000)
    whole = tally.due[STATIC.name, "request"]
    whole.clocks[WRONG].add(whole.clocks[SERVICE])
    for step in ("connecting", "first byte"):
        each = tally.due[STATIC.name, step].clocks[SERVICE]
        each.add(histogram(*[round(each.mean or 0)] * each.count))
    split = figures(tally, [STATIC])["split_s"]
    expected = {"connect": 4e-3, "tls": 0.0, "first_byte": 2e-3, "rest": 2e-3}
    assert split == pytest.approx(expected, rel=0.02)


def test_deviation_of_a_mix_is_that_of_its_worst_class() -> None:
    asked = {"a": (60, 50.0), "b": (30, 40.0), "c": (10, 10.0)}
    made = {name: {"count": n, "asked_percent": share} for name, (n, share) in asked.items()}
    assert off_by(made) == pytest.approx(10.0)
    assert off_by({}) == 0.0


def test_missing_figure_is_none() -> None:
    result = a_result("silicon-surf", 1, 100)
    assert figure_of("mix.silicon-surf.no-such-class.count")(result) is None
    assert figure_of("clients.least")(result) is None
    assert figure_of("mean_bytes")(result) == pytest.approx(8_006, abs=1)


def test_few_wrong_answers_leave_the_workload_valid_and_more_do_not() -> None:
    assert warned(wrong={"status:404": 20}) == []
    (warning,) = warned(wrong={"status:404": 15, "wrong-length": 6})
    assert (warning.kind, warning.spoils) == (WarningKind.OTHER_FILES, True)
    assert "of 20,000 answers 21 were not what was asked for" in warning.message


def test_bytes_of_a_request_may_differ_by_5_percent_from_file_and_head() -> None:
    mean = a_result("silicon-surf", 48, 1_000).figures["mean_bytes"]
    for factor, count in ((0.94, 1), (0.96, 0), (1.04, 0), (1.06, 1)):
        brought = factor * mean + (1_024 if factor > 1 else 0)
        assert len(warned(bytes_per_request=brought)) == count, factor
