from pathlib import Path

import pytest

from sitebench.errors import BadRunFile
from sitebench.report.model import Report, distinguishing_label, load
from sitebench.runs.store import RunStore
from tests.report import made


def test_report_has_finished_points_and_counts_missing_ones(report: Report) -> None:
    (run,) = report.runs
    assert len(run.points) == 8
    assert len(run.series) == 6
    assert [each.status for each in run.missing] == ["failed"]
    assert [suite.name for suite in report.present] == ["ils"]


def test_clocks_are_those_of_counted_operations(report: Report) -> None:
    for point in report.points:
        assert point.latency.count == point.result.clocks["latency"].n
        assert {slot.phase for slot in point.slots} == {"warm-up", "measured"}


def test_points_are_named_only_by_their_differences() -> None:
    specs = [made.spec(users=2), made.spec(users=64), made.spec(users=64, target="openldap")]
    call = distinguishing_label(specs)
    assert [call(each) for each in specs] == [
        "embedded, 2 users",
        "embedded, 64 users",
        "openldap, 64 users",
    ]
    assert distinguishing_label(specs[:1])(specs[0]) == ""
    assert distinguishing_label(specs, ignoring=("load", "lanes"))(specs[2]) == "openldap"


def test_length_of_the_window_names_points_only_if_they_differ_in_nothing_else() -> None:
    long = made.spec(users=64, measure_s=60.0)
    specs = [made.spec(users=2), made.spec(users=2, entries=5), long]
    assert distinguishing_label(specs)(long) == "64 users"
    assert distinguishing_label([made.spec(users=64), long])(long) == "2 s + 60 s"
    rates = [made.spec(rate=500.0, users=users) for users in (16, 32)]
    assert distinguishing_label([*specs, *rates])(rates[1]) == "500/s, 32 users"


def test_points_with_and_without_a_rate_have_different_names() -> None:
    closed = made.spec(users=64)
    random, even = (
        made.spec(users=64, rate=500.0, settings={"arrivals": arrivals})
        for arrivals in ("poisson", "even")
    )
    call = distinguishing_label([closed, random])
    assert [call(closed), call(random)] == ["64 users", "500/s"]
    call = distinguishing_label([closed, random, even])
    assert [call(closed), call(even)] == ["64 users", "500/s, even"]


def test_points_are_named_by_differing_settings() -> None:
    specs = [made.spec(settings={"keys": keys, "seed": "1"}) for keys in ("uniform", "latest")]
    assert distinguishing_label(specs)(specs[1]) == "keys=latest"


def test_run_file_without_a_finished_point_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "planned.sitebench"
    with RunStore(path) as store:
        store.plan([made.spec()])
        words = r"no measured point \(1 planned, none is finished yet\)"
        with pytest.raises(BadRunFile, match=rf"{words}.*; run the Python program that wrote it"):
            load([path])
        store.set_manifest({"command": ["sitebench", "ils", "run"]})
        with pytest.raises(BadRunFile, match=r"finish the sweep first: sitebench resume "):
            load([path])


def test_runs_with_the_same_file_name_are_distinguished_by_folder(tmp_path: Path) -> None:
    paths = [tmp_path / name / "run.sitebench" for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        made.write_points(path, made.spec())
    assert [run.label for run in load(paths).runs] == [str(path) for path in paths]


def test_suite_unknown_to_this_version_is_shown_by_name(tmp_path: Path) -> None:
    spec = made.spec(suite="dns", operation="query")
    path = made.write_points(tmp_path / "dns.sitebench", spec)
    (suite,) = load([path]).present
    assert (suite.name, suite.title) == ("dns", "dns")
    assert [figure.operation for figure in suite.figures([made.spec("static")])] == ["static"]
