"""JUnit XML: well-formed, with right counts, and valid for Jenkins' junit-10.xsd."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sitebench.counts.durations import Durations
from sitebench.errors import EXIT_MISSED, ObjectiveMissed
from sitebench.measure.junit import junit
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import (
    Judged,
    Outcome,
    judge_points,
    judge_result,
    missed_objectives,
    raise_if_missed,
)
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from sitebench.verdict.warning import PointWarning, WarningKind
from tests.measure.test_objective import measured
from tests.support import points
from tests.support.drains import Step, histogram
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec, a_tally
from tests.tables.test_screen import shown

OBJECTIVE = Objective.parse("p99<1ms,rate>=5k")

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "property": set(),
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
    **{key: set[str]() for key in ("failure", "error", "skipped", "system-out")},
}
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "property": {"name", "value"},
    "testcase": {"name"},
}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {*REQUIRED["testsuite"], "skipped", "time", "timestamp", "hostname", "id"},
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    **{key: {"type", "message"} for key in ("failure", "error", "skipped")},
}
"""The elements and attributes of junit-10.xsd."""


def parsed(judged: list[Judged]) -> ET.Element:
    """Parse a document and check every element against the schema."""
    root = ET.fromstring(junit(judged, None).encode())
    for parent in root.iter():
        assert {child.tag for child in parent} <= CHILDREN[parent.tag]
        assert set(parent.attrib) <= ALLOWED.get(parent.tag, set())
        assert set(parent.attrib) >= REQUIRED.get(parent.tag, set())
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error")):
            assert int(suite.attrib[attribute]) == sum(c.find(tag) is not None for c in cases)
    return root


def invalid(result: PointResult, said: str = "the load generator was the limit") -> PointResult:
    return points.judged(result, bound="generator", valid=False, evidence=said)


def figures(result: PointResult) -> dict[str, str]:
    """Return a point's figures in its `system-out`, which are also properties of its suite."""
    root = parsed([judge_result(result, None)])
    lines = (root.findtext(".//system-out") or "").splitlines()
    found = dict(line.split(" = ", 1) for line in lines)
    properties = {each.attrib["name"]: each.attrib["value"] for each in root.iter("property")}
    assert properties.pop("target") == result.spec.target
    assert {name.rpartition(": ")[2]: value for name, value in properties.items()} == found
    return found


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """A run of six points: passed, too slow, invalid, failed, not measured, and of another kind."""
    store = RunStore(tmp_path / "run")
    for size, result in (
        (1_000, a_result(a_spec(entries=1_000))),
        (2_000, a_result(a_spec(entries=2_000), 9_999)),
        (3_000, invalid(a_result(a_spec(entries=3_000)))),
        (9_000, a_result(a_spec("connect", 9_000))),
    ):
        store.begin(result.spec)
        point = store.point_id(result.spec.key)
        store.complete(point, {"measure": a_tally()}, result)
        store.confirm(result.spec)
        assert store.result(result.spec) is not None, size
    failed = a_spec(entries=4_000)
    store.begin(failed)
    store.fail(failed.key, {"kind": "TargetDied", "message": "it ended <so>", "remedy": "r"})
    return store


def judged(store: RunStore) -> list[Judged]:
    specs = [a_spec(entries=size) for size in (1_000, 2_000, 3_000, 4_000, 5_000)]
    return judge_points([*specs, a_spec("connect", 9_000)], store, OBJECTIVE)


def test_every_point_is_a_case_in_the_suite_of_its_operation(store: RunStore) -> None:
    root = parsed(judged(store))
    lookup, connect = root.findall("testsuite")
    assert (lookup.attrib["name"], connect.attrib["name"]) == ("ils.lookup", "ils.connect")
    counts = [lookup.attrib[name] for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["5", "1", "2", "1"]
    assert [root.attrib[name] for name in ("tests", "failures", "errors")] == ["6", "1", "2"]
    tags = [[each.tag for each in case] for case in lookup.findall("testcase")]
    out = ["system-out"]
    assert tags == [out, ["failure", *out], ["error", *out], ["error"], ["skipped"]]


def test_case_contains_failures_and_figures_and_the_missed_objective(store: RunStore) -> None:
    lookup = parsed(judged(store)).findall("testsuite")[0]
    cases = {case.attrib["name"]: case for case in lookup.findall("testcase")}
    slow = cases["lookup at 2k, 64 clients"]
    [failure] = slow.findall("failure")
    assert "rate is 5,000/s (asked: rate>=5k)" in failure.attrib["message"]
    assert "p99 is not known" in failure.attrib["message"]
    assert "latency_p99_us = n/a" in (slow.findtext("system-out") or "")
    [died] = cases["lookup at 4k, 64 clients"].findall("error")
    assert (died.attrib["type"], died.text) == ("TargetDied", "it ended <so>")
    assert slow.attrib["time"] == "2.000"


def test_suite_names_its_target_objective_and_kinds_of_failures() -> None:
    failing = measured(Step("lookup", "lookup", 100, {"timeout": 9, "wrong-answer": 1}))
    root = ET.fromstring(junit([judge_result(failing, OBJECTIVE)], OBJECTIVE))
    values = {each.attrib["name"]: each.attrib["value"] for each in root.iter("property")}
    assert (values["target"], values["objective"]) == ("embedded", "p99<1ms,rate>=5k")
    out = root.findtext(".//system-out") or ""
    assert "failed timeout = 9\n" in out
    assert "failed wrong-answer = 1" in out


def test_figures_are_suite_properties_named_by_case(store: RunStore) -> None:
    lookup = parsed(judged(store)).findall("testsuite")[0]
    found = {each.attrib["name"]: each.attrib["value"] for each in lookup.iter("property")}
    assert found["lookup at 1k, 64 clients: ops_per_s"] == "10000"
    latency = float(found["lookup at 1k, 64 clients: latency_p99_us"])
    assert latency == pytest.approx(50, rel=0.001)
    assert found["lookup at 3k, 64 clients: verdict"] == "generator"
    assert not any("4k" in name for name in found)


def test_lower_bounds_have_the_format_of_the_tables() -> None:
    held = points.judged(invalid(a_result()), at_most_per_s=37_000.0)
    assert "  10,000..37,000  " in shown(held)[2]
    found = figures(held)
    assert (found["ops_per_s"], found["at_most_per_s"]) == (">= 10000", "37000")
    assert (found["grade"], found["outcome"]) == ("at least", "invalid")
    assert "  >= 10,000  " in shown(invalid(a_result()))[2]
    assert "at_most_per_s" not in figures(invalid(a_result()))
    found = figures(points.judged(held, bound="unsettled", at_most_per_s=None))
    assert (found["ops_per_s"], found["grade"]) == ("10000", "not usable")
    assert (figures(a_result())["ops_per_s"], figures(a_result())["grade"]) == ("10000", "measured")


def test_percentile_among_unanswered_operations_is_a_lower_bound() -> None:
    answered, never_came = histogram(), histogram()
    answered.record(50_000, 19_600)
    never_came.record(3_000_000_000, 400)
    seen = changed(a_result(), latency=Durations.of(answered, never_came))
    found = figures(seen)
    assert float(found["latency_p50_us"]) == pytest.approx(50, rel=0.001)
    assert float(found["latency_p90_us"]) == pytest.approx(50, rel=0.001)
    for name in ("latency_p99_us", "latency_mean_us", "latency_max_us"):
        assert found[name].startswith(">= ")
    assert float(found["latency_p99_us"][3:]) == pytest.approx(3e6, rel=0.001)
    assert found["latency_p99_9_us"] == "n/a (n=20000)"
    assert "  >= 3 s  " in shown(seen)[2]
    # The lower bound is judged: at least 3 s misses 1 s, and may exceed 5 s.
    for asked, tag, outcome in (("p99<1s", "failure", "missed"), ("p99<5s", "error", "unknown")):
        case = judge_result(seen, Objective.parse(asked))
        assert case.outcome == outcome
        [failure] = parsed([case]).findall(f".//{tag}")
        assert failure.attrib["message"] == f"p99 is >= 3 s (asked: {asked})"


def test_latency_that_includes_waits_for_other_programs_is_an_upper_bound() -> None:
    noise = PointWarning(WarningKind.OTHERS_IN_LATENCY, "others", "end them")
    seen = points.judged(a_result(a_spec(rate=10_000)), warnings=(noise,))
    assert figures(seen)["latency_p99_us"].startswith("<= 50")
    assert "  <= 50 us  " in shown(seen)[2]
    assert shown(seen)[3] == "<=: waits for other programs are in it."
    assert judge_result(seen, Objective.parse("p99<60us")).outcome is Outcome.PASSED
    asked = Objective.parse("p99<40us")
    case = judge_result(seen, asked)
    assert case.outcome is Outcome.UNKNOWN
    root = parsed([case])
    assert root.find(".//failure") is None
    [error] = root.findall(".//error")
    assert error.attrib["message"] == "p99 is <= 50 us (asked: p99<40us)"
    with pytest.raises(ObjectiveMissed, match=r"p99<40us unknown at 1 of 1 point") as caught:
        raise_if_missed([case], asked)
    assert caught.value.exit_code == EXIT_MISSED
    assert missed_objectives([case])[0].startswith("unknown: ")
    # A figure that is not the target's is unknown, too.
    with pytest.raises(ObjectiveMissed, match=r"p99<60us unknown at 1 of 1 point"):
        raise_if_missed([judge_result(invalid(seen), asked)], Objective.parse("p99<60us"))
    # Failures and rates are exact, and an upper bound is not exceeded.
    assert judge_result(seen, Objective.parse("failures<1%,rate>1")).outcome is Outcome.PASSED
    assert judge_result(seen, Objective.parse("p99>1s")).outcome is Outcome.MISSED
    assert judge_result(seen, Objective.parse("p99>1us")).outcome is Outcome.UNKNOWN


def test_characters_invalid_in_xml_are_replaced() -> None:
    spoilt = invalid(a_result(), "it said \x00\x1b[31m & <b>\ud800")
    [error] = parsed([judge_result(spoilt, None)]).findall(".//error")
    assert error.text == "generator: it said \ufffd\ufffd[31m & <b>\ufffd"


def test_invalid_point_never_passes() -> None:
    assert judge_result(a_result(), OBJECTIVE).outcome is Outcome.PASSED
    assert judge_result(invalid(a_result()), OBJECTIVE).outcome is Outcome.INVALID
    assert judge_result(invalid(a_result()), None).outcome is Outcome.INVALID


def test_invalid_point_misses_an_objective_on_the_share_of_failures() -> None:
    """With nine of ten operations failed, the point was `invalid`, and the objective unknown."""
    result = invalid(measured(Step("lookup", "lookup", 100, {"timeout": 90})))
    objective = Objective.parse("p99<1ms,failures<0.1%")
    missed = judge_result(result, objective)
    assert missed.outcome is Outcome.MISSED
    assert "failures is 90% (asked: failures<0.1%)" in missed.message
    assert "the load generator was the limit" in missed.message
    succeeded = invalid(measured(Step("lookup", "lookup", 100)))
    assert judge_result(succeeded, objective).outcome is Outcome.INVALID


def test_failed_point_has_its_line_and_its_exit_code(store: RunStore) -> None:
    lines = missed_objectives(judged(store))
    assert [line.split(":")[0] for line in lines] == ["missed", "invalid", "failed", "skipped"]
    with pytest.raises(ObjectiveMissed, match=r"not met by 4 of 6 points") as caught:
        raise_if_missed(judged(store), OBJECTIVE)
    assert caught.value.exit_code == EXIT_MISSED == 3
    raise_if_missed([judge_result(a_result(), OBJECTIVE)], OBJECTIVE)
