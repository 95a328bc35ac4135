"""The content of a report, read from its HTML and its Markdown."""

import html
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.measure.objective import METRICS
from sitebench.report import build
from sitebench.report.charts import Columns, log_axis, rows
from sitebench.report.model import Point, Report, Run, load
from sitebench.report.page import Section
from sitebench.report.sections import facts, failures, objectives, operations, overview, trust
from sitebench.runs.timeline import Slot
from sitebench.verdict.warning import PointWarning
from tests.report import made
from tests.support.points import judged

LOGIN = {"accounts": "/home/me/staff.csv:secret=password", "base": "ou=staff,dc=x"}
LOGIN |= {"how": "search-bind", "bind_dn": "cn=admin,dc=x"}
Sections = dict[str, Section]


@pytest.fixture(scope="session")
def sweep(report: Report) -> Run:
    (sweep,) = report.runs
    return sweep


@pytest.fixture(scope="session")
def sections(sweep: Run) -> Sections:
    return sections_of(sweep)


def words(section: Section | str) -> str:
    body = section if isinstance(section, str) else section.body
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def sections_of(*runs: Run) -> Sections:
    return {section.id: section for section in build.sections(Report([*runs]))}


def test_verdict_is_the_first_section_and_manifest_the_last(sections: Sections) -> None:
    assert list(sections) == [
        *("verdict", "results", "warnings", "rates", "bottlenecks", "curve", "spectrum"),
        *("over-time", "papers", "failures", "plan", "manifest"),
    ]


def of_operation(run: Run, operation: str) -> list[Point]:
    return [point for point in run.points if point.spec.operation == operation]


def with_bound(run: Run, operation: str, bound: str) -> Run:
    """Return the run with another verdict for the points of an operation."""
    points = [
        point
        if point.spec.operation != operation
        else replace(point, result=judged(point.result, bound=bound, valid=False))
        for point in run.points
    ]
    return replace(run, points=points)


@pytest.fixture(scope="session")
def spoilt(sweep: Run) -> Run:
    """The run, with an unsettled point in place of the load generator's limit."""
    return with_bound(sweep, "add", "unsettled")


def test_trust_sentence_names_the_limit_of_the_rates(sweep: Run, spoilt: Run) -> None:
    words = trust.sentence(sweep)
    assert "7 of 8 rates are the server's own. The limit was the target's CPU." in words
    assert "1 of 8 rates is a lower bound: the server can do more." in words
    assert words.endswith("72 operations failed. 1 point planned, but not measured.")
    words = trust.sentence(spoilt)
    assert "1 of 8 rates is not usable: its rate or latency was not steady." in words


LOWER_BOUND = "The rate is a lower bound: the server can do more."


@pytest.mark.parametrize(
    ("bound", "kinds", "words"),
    [
        ("target-cpu", (), "The rate is the server's own. The limit was the target's CPU."),
        ("undecided", (), "The rate is the server's own. The limit is not known."),
        (
            "generator",
            ("noisy-machine",),
            f"{LOWER_BOUND} The load generator's machine was too busy for a higher load.",
        ),
        ("generator", (), f"{LOWER_BOUND} The load generator reached its own limit first."),
        (
            "others",
            ("noisy-machine",),
            f"{LOWER_BOUND} Other programs used the cores that it needed.",
        ),
        ("unsettled", (), "No usable figure of the server: its rate or latency was not steady."),
        ("leak", (), "No usable figure of the server: it showed data of other people."),
        (
            "of-a-newer-version",
            (),
            "The rate is the server's own. The limit was of a newer version.",
        ),
    ],
)
def test_trust_sentence_depends_on_bound_and_warnings(
    sweep: Run, bound: str, kinds: tuple[str, ...], words: str
) -> None:
    (point,) = of_operation(sweep, "add")
    warnings = tuple(PointWarning(kind, "", "") for kind in kinds)
    valid = bound not in ("generator", "others", "unsettled", "leak")
    one = replace(point, result=judged(point.result, bound=bound, valid=valid, warnings=warnings))
    assert trust.sentence(replace(sweep, points=[one], stored=[])) == words


def test_first_section_has_trust_cards_and_a_chart(sections: Sections) -> None:
    body = sections["verdict"].body
    parts = ('class="headline"', 'class="next"', 'class="cards"', 'id="figure-overview"')
    places = [body.index(part) for part in parts]
    assert places == sorted(places)
    # Not "Directory of online users", the directory of the paper.
    assert "<h3>Directory</h3>" in body
    assert [chart.id for chart in sections["verdict"].charts] == ["overview"]
    assert "Next step: Continue with `sitebench resume " in words(sections["verdict"])


def test_head_of_a_report_has_a_target_a_date_and_a_load(sweep: Run) -> None:
    targets = [{"name": "openldap", "version": "OpenLDAP 2.6"}]
    manifest = {**sweep.manifest, "started": "2026-11-28T03:07:00+00:00", "targets": targets}
    dated = Report([replace(sweep, manifest=manifest)])
    page = words(build.html(dated, []).partition("<header>")[2].partition("</header>")[0])
    assert page.startswith(
        "Load test of the embedded server 28 November 2026, 03:07 UTC · OpenLDAP"
    )
    assert "1k to 10k entries · 2 to 64 users with no pauses · measured for 4s after 2s" in page
    assert "8 measurements of 6 points" in page
    assert "<h1>Release &lt;2&gt;</h1>" in build.html(dated, [], "Release <2>")


@pytest.fixture(scope="session")
def search(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A search for the highest rate that meets an objective."""
    (search,) = load([made.search(tmp_path_factory.mktemp("made") / "search.sitebench")]).runs
    return search


def test_report_on_a_search_begins_with_the_searchs_answer(search: Run) -> None:
    """It began with the highest tried rate, at which the objective was not met."""
    sections = sections_of(search)
    section = sections["verdict"]
    said = words(section)
    assert "All 3 rates are the server's own." in said
    card = said.partition("Directory ")[2]
    assert card.startswith("Lookup 2,620/s with p99<50ms (held 3 of 3 times); 1k entries: p95 ")
    assert "20,000/s" not in said, "the section shows the rates of the probes"
    assert 'class="stamp good">Measured<' in section.body, "the stamp is not that of the answer"
    (bar,) = rows(section.charts[0].choices[""]["bars"])
    assert (bar["label"], bar["rate"]) == ("Lookup, 1k entries, p99<50ms", 2_620)
    assert (bar["words"], bar["low"], bar["end"]) == ("2,620/s", None, 2_620)
    assert "(3 measurements)" in words(sections["warnings"])


def test_answers_of_several_runs_name_the_runs(search: Run) -> None:
    runs = [replace(search, label=label) for label in ("old", "new")]
    said = words(sections_of(*runs)["verdict"])
    for run in runs:
        assert f"Lookup, {run.label} 2,620/s with p99<50ms" in said


@pytest.mark.parametrize(
    ("other", "said", "card"),
    [
        (
            {"seen": None},
            "3 rates are lower bounds: the server can do more. The search ended before",
            "at least 2,620/s with p99<50ms (the server's own limit is not known)",
        ),
        (
            {"best": None, "rate": None, "seen": None, "said": "no rate from 500/s up holds it"},
            "no rate from 500/s up holds it",
            "n/a no rate found with p99<50ms: no rate from 500/s up",
        ),
    ],
)
def test_report_on_a_search_without_an_upper_limit_shows_a_lower_bound(
    search: Run, other: dict[str, Any], said: str, card: str
) -> None:
    peaks = [{**search.manifest["peaks"][0], **other}]
    run = replace(search, manifest={**search.manifest, "peaks": peaks})
    section = sections_of(run)["verdict"]
    assert said in words(section)
    assert card in words(section)
    assert len(section.charts) == (peaks[0]["rate"] is not None)
    if section.charts:
        assert "Lower bounds only" in words(section)
        (bar,) = rows(section.charts[0].choices[""]["bars"])
        assert (bar["words"], bar["grade"]) == ("at least 2,620/s", "at least")


def test_card_has_p95_p99_and_failures_beside_the_rate(sections: Sections) -> None:
    card = words(sections["verdict"])
    met = "objective p99<1ms: passed; objective max<1us: missed"
    assert f"Lookup 20,000/s 1k entries: p95 146 µs, p99 150 µs; {met} " in card
    assert f"1k entries: p95 144 µs, p99 148 µs; {met}; 72 failed" in card
    assert "at least 20,000/s 1k entries: latency not known: delays of the load generator" in card
    assert "objective p99<1ms: invalid" in card


def test_label_of_a_rate_stands_after_the_interval_of_its_bar(report: Report) -> None:
    chart = overview.chart(report)
    *_, written = chart.spec["layer"]
    assert written["encoding"]["x"]["field"] == "after"
    bars = rows(chart.choices[""]["bars"])
    assert all(bar["end"] >= max(bar["rate"], bar["high"] or 0) for bar in bars)
    assert any(bar["high"] for bar in bars)


def test_first_chart_has_a_bar_for_each_size_with_its_rate_in_words(spoilt: Run) -> None:
    bars = rows(overview.chart(Report([spoilt])).choices[""]["bars"])
    said = {bar["label"]: (bar["rate"], bar["words"]) for bar in bars}
    assert said["Lookup, 10k entries"] == (20_000, "20,000/s")
    assert said["Add, 1k entries"] == (0, "not usable"), "it has no length"


def test_chart_with_too_many_bars_shows_the_highest_bar_of_each_operation(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "_MOST_BARS", 3)
    chart = overview.chart(report)
    assert chart.title == "Operations per second: the highest of each operation"
    assert [bar["label"].partition(",")[0] for bar in rows(chart.choices[""]["bars"])] == [
        *("Lookup", "Add", "Connect")
    ]


@pytest.mark.parametrize(
    ("bounds", "stamped"),
    [
        ({}, "Measured, with warnings"),
        ({"add": "generator"}, "Partly lower bounds"),
        ({"add": "unsettled"}, "Partly not usable"),
        (dict.fromkeys(("add", "lookup", "connect"), "generator"), "Lower bounds only"),
        (dict.fromkeys(("add", "lookup", "connect"), "failed"), "Not usable"),
    ],
)
def test_stamp_of_a_report_counts_quotable_points(
    sweep: Run, bounds: dict[str, str], stamped: str
) -> None:
    # A point without a result counts separately.
    run = replace(sweep, stored=[each for each in sweep.stored if each.status == "done"])
    for operation, bound in bounds.items():
        run = with_bound(run, operation, bound)
    if not bounds:
        run = replace(run, points=[p for p in run.points if p.spec.operation != "add"])
    assert trust.stamp(run) == stamped


def test_rate_with_many_failures_is_not_stamped_quotable(sweep: Run) -> None:
    (point, *_) = sweep.points
    failed = {"wrong-answer": point.result.attempts // 50}
    result = replace(point.result, failures_by_kind=failed)
    failing = replace(sweep, points=[replace(point, result=result)], stored=[])
    assert trust.stamp(failing) == "Too many failures"
    assert "In 1 point, more than 1% of the operations failed." in trust.sentence(failing)


def test_every_remedy_lists_its_points_worst_first(spoilt: Run) -> None:
    missing, bad, *_ = trust.remedies(Report([spoilt]), spoilt)
    assert missing.messages == {"it <i>died</i> | so": ["Connect, 10k entries"]}
    assert bad.bad
    assert list(bad.messages.values()) == [["Add, 1k entries"]]


def test_points_with_different_settings_have_different_names_in_every_table(sweep: Run) -> None:
    """Points of a sweep over hashes were all called `login, 1k entries`."""
    (point,) = of_operation(with_bound(sweep, "add", "generator"), "add")

    def of(scheme: str) -> Point:
        asked = replace(point.spec, settings={**point.spec.settings, "hash": scheme})
        failed = {"timeout": 3, "wrong-answer": 2}
        return replace(point, result=replace(point.result, spec=asked, failures_by_kind=failed))

    several = replace(sweep, points=[of("clear"), of("ssha")], stored=[])
    for name, section in sections_of(several).items():
        rows = re.findall(r"Add, 1k entries[^<(]*", section.body)
        assert all("hash=" in row for row in rows), (name, rows)


@pytest.mark.parametrize(
    ("bound", "mark"), [("generator", "bound"), ("unsettled", "invalid"), ("failed", "invalid")]
)
def test_invalid_point_is_marked_in_every_table(sweep: Run, bound: str, mark: str) -> None:
    sections = sections_of(with_bound(sweep, "add", bound))
    for name in ("bottlenecks", "papers", "results"):
        assert f'class="mark {mark}" title="{bound}' in sections[name].body, name


@pytest.mark.parametrize("bound", ["generator", "unsettled"])
def test_note_of_a_starred_latency_covers_each_reason(sweep: Run, bound: str) -> None:
    said = words(sections_of(with_bound(sweep, "add", bound))["results"])
    assert "µs *" in said
    assert "* the load generator was the limit" not in said
    assert "*: includes delays of the load generator, or is not usable" in said


def test_lower_bound_and_its_latency_are_marked(sections: Sections) -> None:
    assert "≥ 20,000" in sections["results"].body
    assert "≥ 20,000" in sections["papers"].body
    assert "99 µs *" in words(sections["results"])
    assert "*" not in words(sections["verdict"])


def test_server_cost_has_a_row_for_each_point(sections: Sections) -> None:
    said = words(sections["bottlenecks"])
    assert "What one operation costs your server" in said
    # 0.95 s of CPU a second at 20,000/s.
    assert "Lookup, 1k entries, 16 users 47.5 µs" in said


def test_bottlenecks_have_a_grade_and_evidence(sections: Sections) -> None:
    said = words(sections["bottlenecks"])
    assert "Point CPU Network Memory Operating System Software Disk Subsystem Verdict" in said
    assert "Lookup, 1k entries, 16 users Primary" in said
    assert "1997, Table 10: ProLiant 2500" in said
    assert "1997, Table 11: ProLiant 7000" in said


def test_tables_of_the_paper_have_todays_rows_above_1997(sections: Sections) -> None:
    said = words(sections["papers"])
    assert "Search Ops/sec today - 20,000 - 20,000" in said
    assert "ProLiant 2500, Table 6 935 921 905 900" in said
    assert "ProLiant 7000, Table 9 1,539 1,532 1,512 1,485" in said


def test_each_operation_has_the_number_of_repeats_the_median_and_the_range(
    sections: Sections,
) -> None:
    said = words(sections["results"])
    assert "Lookup 1k 16\xa0users".replace("\xa0", " ") in said
    assert "20,000 2 20,000..20,000" in said
    assert "with few repeats, the smallest and the largest" in said


def test_step_tables_are_collapsed_at_first(sections: Sections) -> None:
    summary = "<details><summary>Every step of every program"
    steps = sections["results"].body.partition(summary)[2]
    assert "service p50 service p95 service p99" in words(steps)


def test_objectives_are_shown_with_outcome_and_measured_value(sections: Sections) -> None:
    said = words(sections["results"])
    assert "lookup at 1k, 16 clients p99<1ms passed 150 µs max<1us missed 151 µs" in said
    assert "add at 1k, 16 clients p99<1ms invalid" in said, "the load generator was the limit"


def test_unknown_objective_is_omitted(sweep: Run) -> None:
    newer = replace(sweep, manifest={**sweep.manifest, "objective": "p42<1ms"})
    assert objectives.tables(Report([newer])) == []


def test_tail_table_has_the_samples_beyond_each_percentile(sections: Sections) -> None:
    """Two repeats of 8 drains of 10,000, merged: 1,600 beyond p99, one beyond p99.999."""
    said = words(sections["results"])
    row = "Lookup, 1k entries 16 users 160,000 150 µs (1,600) 151 µs (160) n/a (16) n/a (1)"
    assert row in said


def test_signs_of_the_tail_are_explained_only_where_a_cell_has_them(sweep: Run) -> None:
    unanswered, many = Histogram(), Histogram()
    unanswered.record(10**10, 20_000)
    many.record(10**6, 10**8)
    given_up = [replace(point, censored=unanswered) for point in sweep.points]
    complete = [replace(point, latency=many) for point in sweep.points]
    tails = [
        operations.tail(Report([sweep]), replace(sweep, points=points))
        for points in (sweep.points, given_up, complete)
    ]
    for tail, explained in zip(tails, (["n/a"], ["n/a", ">="], []), strict=True):
        cells = str(tail.rows)
        assert [sign for sign in ("n/a", ">=") if sign in cells] == explained
        assert [sign for sign in ("n/a", ">=") if f"{sign}:" in str(tail.notes)] == explained
    assert tails[1].rows[0][3] == ">= 10 s (2,000)"


def test_section_of_1997_is_collapsed_at_first(sections: Sections) -> None:
    assert sections["papers"].body.startswith("<details><summary>")
    above = " ".join(words(sections[name]) for name in ("verdict", "results", "warnings", "rates"))
    assert "ProLiant" not in above
    assert all("ProLiant" not in str(chart.choices) for chart in sections["rates"].charts)


def test_single_size_has_no_chart_over_sizes(sweep: Run) -> None:
    assert "rates" not in sections_of(replace(sweep, points=sweep.points[:1]))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"rate": 5e3, "settings": {"arrivals": "poisson"}}, "5,000/s with poisson arrivals"),
        ({"settings": {"think": "1s"}}, "16 users with pauses of 1s"),
        (
            {"operation": "login", "target": "openldap", "settings": LOGIN},
            "how search-bind, over new, accounts staff.csv:secret=password, base ou=staff,dc=x, "
            "bind-dn cn=admin,dc=x",
        ),
    ],
)
def test_head_of_a_report_describes_arrivals_pauses_and_the_login(
    report: Report, sweep: Run, other: dict[str, Any], said: str
) -> None:
    point = sweep.points[0]
    result = replace(point.result, spec=replace(point.spec, **other))
    line = facts.line(report, replace(sweep, points=[replace(point, result=result)]))
    assert said in line
    assert "/home/me" not in line


def over_time(sweep: Run, slots: list[Slot]) -> tuple[Section, Mapping[str, Columns]]:
    """Return the section of a point over time, and its columns."""
    section = sections_of(replace(sweep, points=[replace(sweep.points[0], slots=slots)]))[
        "over-time"
    ]
    (datasets,) = section.charts[0].choices.values()
    return section, datasets


def test_sparse_seconds_leave_gaps_in_percentiles(sweep: Run) -> None:
    """A p50 needs 200 samples, a p95 2,000 and a p99 10,000."""

    def second(n: int, count: int) -> Slot:
        slot = Slot("measured", n * 10**9, (n + 1) * 10**9, count)
        slot.latency.add(made.took(100_000, count))
        return slot

    slots = [second(*each) for each in enumerate((100, 300, 2_000))]
    _, datasets = over_time(sweep, slots)
    lines: dict[str, list[int | None]] = {"p50": [None, 99, 99], "p95": [None, None, 144]}
    assert {row["series"] for row in rows(datasets["percentiles"])} == set(lines), "no p99"
    for name, values in lines.items():
        found = [row for row in rows(datasets["percentiles"]) if row["series"] == name]
        assert [(row["t"], row["v"]) for row in found] == [
            (n + 0.5, v if v is None else pytest.approx(v, abs=1)) for n, v in enumerate(values)
        ]
    assert datasets["unknown"] == {"said": []}
    _, datasets = over_time(sweep, slots[:1])
    assert datasets["unknown"] == {"said": ["no second has enough answers for a percentile"]}


@pytest.mark.parametrize(
    ("per_s", "lasted_s", "width_s", "said"),
    [
        (10_000, 10, 1, "answers in a second. A line has a gap where fewer than 100 were slower."),
        (666, 20, 4, "answers in 4 s. {gap} p99 needs about 10,000 answers in 4 s; see the table."),
        (666, 100, 4, "answers in 4 s. {gap} p99 needs about 10,000 answers in 4 s; see the table"),
        (666, 10, 1, "second. {gap} p95 needs about 2,000 answers, p99 needs about 10,000 in a "),
        (100, 0, 1, "second. p50 needs about 200 answers, p95 needs about 2,000, p99 needs "),
        (100, 10, 1, "second. p50 needs about 200 answers, p95 needs about 2,000, p99 needs "),
    ],
)
def test_percentiles_over_time_use_enough_seconds_for_p95(
    sweep: Run, per_s: int, lasted_s: int, width_s: int, said: str
) -> None:
    """At 666/s no second has enough samples for a p95: the legend named it without a line."""
    slots = [Slot("measured", n * 10**9, (n + 1) * 10**9, per_s) for n in range(lasted_s)]
    for slot in slots:
        slot.latency.record(100_000, per_s)
    section, datasets = over_time(sweep, slots)
    gap = "A line has a gap where fewer than 100 were slower."
    assert said.format(gap=gap) in words(section)
    found = rows(datasets["percentiles"])
    starts = sorted({row["t"] for row in found if row["series"] != "no line"})
    assert all(b - a == width_s for a, b in pairwise(starts))
    assert ("p95" in {row["series"] for row in found}) == (per_s * width_s >= 2_000)


def test_failures_are_counted_by_kind(sections: Sections) -> None:
    said = words(sections["failures"])
    assert "Connect, 1k entries timeout connect: look up <timeout> 56" in said
    assert "Connect, 1k entries wrong-answer connect: look up <wrong-answer> 16" in said
    assert "failed it <i>died</i> | so look at it" in said


def test_failure_share_matches_that_of_an_objective(sweep: Run) -> None:
    point = next(each for each in sweep.points if each.result.failures)
    (counted, *others) = point.result.steps
    # Another step of the sequence that never fails, equally often.
    bind = replace(counted, step="bind", failures=0, counted=False)
    result = replace(point.result, steps=(counted, bind, *others))
    one = replace(sweep, points=[replace(point, result=result)])
    (by_kind, *_) = failures.tables(Report([one]))
    shown = sum(float(str(row[-1]).rstrip("%")) for row in by_kind.rows)
    assert METRICS["failures"].read(result) == pytest.approx(shown, abs=0.001)


def test_loads_are_drawn_as_a_curve_with_the_knee_of_the_search(sections: Sections) -> None:
    (chart,) = sections["curve"].charts
    (datasets,) = chart.choices.values()
    assert datasets["knee"] == {"rate": [20_000], "label": ["knee: 20,000/s with 16 clients"]}
    loads = dict.fromkeys(row["load"] for row in rows(datasets["curve"]))
    assert list(loads) == ["2\xa0users", "16\xa0users", "64\xa0users"]
    assert "at most 20,000/s, with 64 clients" in words(sections["curve"])


def test_markdown_has_the_headline_the_warnings_and_every_table(report: Report) -> None:
    text = build.markdown(report)
    assert text.startswith("# Load test of the embedded server\n\n**made**: 1k to 10k entries · ")
    assert "**Partly not usable**: 7 of 8 rates are the server's own." in text
    assert "### Direct Lookup Operation (today: embedded)" in text
    assert "| Search Ops/sec | today | - | 20,000 | - | 20,000 |" in text
    assert "| \\>= 20,000 |" in text
    assert "### Failed operations by kind" in text
    assert "connect: look up &lt;wrong-answer\\>" in text
    assert "<" not in text


def test_table_of_workers_marks_lost_workers(sweep: Run, sections: Sections) -> None:
    assert "workers" not in sections, "one process made these points"
    first = WorkerSeen(0, "east", "10.0.0.2", 7, "m1", "native", 4.0, 40_000, 0, (2.0, 1.0))
    lost = WorkerSeen(
        1, "west", "10.0.0.3", 8, "m2", "ldap3", 2.0, 100, 3, skew_s=-0.0125, ended="lost"
    )
    point = sweep.points[0]
    shared = replace(point, result=replace(point.result, workers=(first, lost)))
    said = words(sections_of(replace(sweep, points=[shared]))["workers"])
    assert "0 east, 10.0.0.2 native with the test 10,000 0 0.75 n/a n/a" in said
    assert "1 west, 10.0.0.3 ldap3 lost 50" in said
    assert said.count("-12.5 ms") == 1


def test_narrow_range_of_rates_has_axis_ticks() -> None:
    """With ticks at 1, 2 and 5 alone, an axis from 3,400 to 4,700 would have none."""
    axis = log_axis("count, log", [3_400.0, 4_700.0])
    assert [mark for mark in axis["values"] if 3_400 <= mark <= 4_700] == [3_500, 4_000, 4_500]
    assert log_axis("count, log", [1.0, 100.0])["values"][:3] == [0.1, 0.2, 0.5]


def test_axis_of_rates_over_sizes_spans_at_least_a_factor_of_four(sections: Sections) -> None:
    """Otherwise 106k to 127k fill the height, without a mark between them."""
    for chart in sections["rates"].charts:
        rates = [row["rate"] for row in rows(chart.choices[""]["points"])]
        assert max(rates) / min(rates) < 4
        y = chart.spec["encoding"]["y"]
        low, high = y["scale"]["domain"]
        assert low < min(rates) <= max(rates) < high
        assert high / low == pytest.approx(4)
        assert sum(low <= mark <= high for mark in y["axis"]["values"]) >= 4


def with_specs(run: Run, points: list[Point], **other: Any) -> Run:
    """Return the run with some of its points, whose specifications are changed."""
    changed = [
        replace(point, result=replace(point.result, spec=replace(point.spec, **other)))
        for point in points
    ]
    return replace(run, points=changed)


def test_operations_without_people_are_drawn_over_clients(sweep: Run) -> None:
    """Connects to the user's directory have the directory's number of people, not --entries."""
    small = [point for point in sweep.points if point.spec.entries == 1_000]
    sections = sections_of(with_specs(sweep, small, entries=0))
    for chart in sections["rates"].charts:
        assert chart.spec["encoding"]["x"]["axis"]["title"] == "Clients"
    for name in ("verdict", "rates", "results"):
        assert "entries" not in words(sections[name]).lower(), name


def test_charts_name_marks_that_are_bounds_or_not_usable(sweep: Run) -> None:
    for bound, word in (("generator", "at least"), ("unsettled", "not usable")):
        sections = sections_of(with_bound(sweep, "add", bound))
        assert word in str([dict(chart.choices) for chart in sections["papers"].charts]), bound
        for chart in (*sections["rates"].charts, *sections["curve"].charts):
            assert "{'field': 'grade'}" in str(chart.spec)


def _labels(section: Section, figure: str) -> set[str]:
    (chart,) = (each for each in section.charts if each.id.endswith(figure))
    return {row["grade"] for row in rows(chart.choices[""]["points"])}


@pytest.mark.parametrize(
    ("bound", "of_rate", "of_latency"),
    [
        ("generator", "at least", "at most"),
        ("others", "at least", "at most"),
        ("unsettled", "not usable", "not usable"),
    ],
)
def test_verdict_decides_whether_rate_and_latency_are_bounds(
    sweep: Run, bound: str, of_rate: str, of_latency: str
) -> None:
    run = with_bound(sweep, "lookup", bound)
    assert _labels(sections_of(run)["rates"], "-lookup") == {of_rate}
    # Requests of a site have charts of latencies over clients.
    site = {"suite": "web", "operation": "webstone2-standard", "entries": 0, "rate": None}
    sections = sections_of(with_specs(run, of_operation(run, "lookup"), **site))
    assert _labels(sections["rates"], "-latency") == {of_latency}
    (curves,) = sections["curve"].charts
    for choice in curves.choices.values():
        assert {row["grade"] for row in rows(choice["curve"])} == {of_latency}
    (spectrum,) = sections["spectrum"].charts
    for choice in spectrum.choices.values():
        names = choice["spectrum"]["series"]["names"]
        assert all(name.endswith(f"({of_latency})") for name in names), names
    (over_time,) = sections["over-time"].charts
    assert all("(at least)" not in title for title in over_time.titles.values())
