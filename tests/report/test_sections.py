"""What a report says, read from its HTML and its Markdown."""

import html
import re
from dataclasses import replace

import pytest

from sitebench.counts.worker_seen import WorkerSeen
from sitebench.report import build
from sitebench.report.charts import log_axis
from sitebench.report.model import Report
from sitebench.report.page import Section
from sitebench.report.sections import verdict, workers


@pytest.fixture(scope="session")
def sections(report: Report) -> dict[str, Section]:
    return {section.id: section for section in build.sections(report)}


def words(section: Section) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section.body)).split())


def test_the_verdict_comes_first_and_the_manifest_last(sections: dict[str, Section]) -> None:
    assert list(sections) == [
        *("verdict", "rates", "bottlenecks", "curve", "spectrum", "over-time"),
        *("papers", "operations", "failures", "plan", "manifest"),
    ]


def test_the_headline_says_what_was_found_what_bound_it_and_whether_to_trust_it(
    report: Report,
) -> None:
    said = verdict.headline(report, report.runs[0])
    assert "direct lookup operation 20,000/s with 1k to 10k entries" in said
    assert "was the limit at" in said
    assert "1 of 8 points must not be quoted (generator); 1 more have no result" in said
    assert "Trust in part" in verdict.stamp(report.runs[0])


def test_every_warning_names_its_points_and_its_remedy(report: Report) -> None:
    found = verdict.warned(report, report.runs[0])
    assert [warning.bad for warning in found[:2]] == [True, True]
    (said,) = found[0].messages
    assert said.startswith("generator: ")
    assert found[0].messages[said] == ["Add, 1k entries"]
    assert found[1].messages == {"it <i>died</i> | so": ["Connect, 10k entries"]}
    assert all(warning.remedy for warning in found)


def test_an_invalid_point_is_marked_in_every_table_that_has_it(
    sections: dict[str, Section],
) -> None:
    for name in ("bottlenecks", "papers", "operations"):
        assert 'class="mark invalid" title="generator' in sections[name].body, name


def test_bottlenecks_are_graded_by_resource_with_the_evidence_of_each(
    sections: dict[str, Section],
) -> None:
    said = words(sections["bottlenecks"])
    assert "Point CPU Network Memory Operating System Software Disk Subsystem Verdict" in said
    assert "Direct lookup, 1k entries, 16 users Primary" in said
    assert "1997, Table 10: ProLiant 2500" in said
    assert "1997, Table 11: ProLiant 7000" in said


def test_the_papers_tables_have_today_above_1997(sections: dict[str, Section]) -> None:
    said = words(sections["papers"])
    assert "Search Ops/sec today - 20,000 - 20,000" in said
    assert "ProLiant 2500, Table 6 935 921 905 900" in said
    assert "ProLiant 7000, Table 9 1,539 1,532 1,512 1,485" in said


def test_operations_have_n_median_and_interval(sections: dict[str, Section]) -> None:
    said = words(sections["operations"])
    assert "Direct lookup 1k 16\xa0users".replace("\xa0", " ") in said
    assert "2 20,000 20,000..20,000" in said
    assert "with few repeats, least and greatest" in said


def test_failures_are_counted_by_kind(sections: dict[str, Section]) -> None:
    said = words(sections["failures"])
    assert "Connect, 1k entries timeout 56" in said
    assert "Connect, 1k entries wrong-answer 16" in said
    assert "failed it <i>died</i> | so look at it" in said


def test_loads_make_a_curve_with_the_knee_of_its_search(sections: dict[str, Section]) -> None:
    (chart,) = sections["curve"].charts
    (datasets,) = chart.choices.values()
    assert datasets["knee"] == {"rate": [20_000], "label": ["knee: 20,000/s with 16 clients"]}
    assert datasets["curve"]["load"]["names"] == ["2\xa0users", "16\xa0users", "64\xa0users"]
    assert "at most 20,000/s, with 64 clients" in words(sections["curve"])


def test_markdown_has_the_headline_the_warnings_and_every_table(report: Report) -> None:
    text = build.markdown(report)
    assert text.startswith("# made\n")
    assert "must not be quoted" in text
    assert "### Direct Lookup Operation (today: embedded)" in text
    assert "| Search Ops/sec | today | - | 20,000 | - | 20,000 |" in text
    assert "(invalid)" in text
    assert "### Failed operations by kind" in text
    assert "<script" not in text


def test_workers_have_a_row_each_and_one_that_was_lost_is_marked(
    report: Report, sections: dict[str, Section]
) -> None:
    assert "workers" not in sections, "one process made these points"
    first = WorkerSeen(0, "east", "10.0.0.2", 7, "m1", "native", 4.0, 40_000, 0, (2.0, 1.0))
    lost = WorkerSeen(
        1, "west", "10.0.0.3", 8, "m2", "ldap3", 2.0, 100, 3, skew_s=-0.0125, ended="lost"
    )
    run = report.runs[0]
    point = run.points[0]
    shared = replace(point, result=replace(point.result, workers=(first, lost)))
    made = workers.section(replace(report, runs=[replace(run, points=[shared])]))
    assert made is not None
    said = words(made)
    assert "0 east, 10.0.0.2 native with the test 10,000 0 0.75 n/a n/a" in said
    assert "1 west, 10.0.0.3 ldap3 lost 50" in said
    assert said.count("-12.5 ms") == 1


def test_a_narrow_range_of_rates_has_marks_too() -> None:
    """At 1, 2 and 5 alone, an axis from 3,400 to 4,700 would have none."""
    axis = log_axis("count, log", [3_400.0, 4_700.0])
    assert [mark for mark in axis["values"] if 3_400 <= mark <= 4_700] == [3_500, 4_000, 4_500]
    assert log_axis("count, log", [1.0, 100.0])["values"][:3] == [0.1, 0.2, 0.5]
