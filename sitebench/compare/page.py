"""A comparison as one page: the answer, the remarks, and charts of both sides."""

from __future__ import annotations

import shlex
from html import escape

from sitebench.compare import wording as words
from sitebench.compare.comparison import Compared
from sitebench.compare.figures import ratio_chart, repeats_chart, spectra_chart
from sitebench.compare.runs import Comparison, Run, compare_runs, read_run
from sitebench.errors import BadInput
from sitebench.report.model import Report
from sitebench.report.page import Section, chooser, figure, page
from sitebench.report.sections.facts import start_date, tester
from sitebench.runs.manifest import COMPARED
from sitebench.tables.html import to_html


def comparison_page(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    lead = _facts("A", a) + _facts("B", b)
    lead += "".join(
        f'<p class="facts">{escape(d.name)}: {escape(d.a)} / {escape(d.b)}</p>'
        for d in comparison.options
    )
    sections = [_answers(comparison)]
    if any(point.rows for point in comparison.analysis.points):
        ratios = ratio_chart(comparison.analysis.points)
        sections.append(Section("ratios", "Ratios", figure(ratios), (ratios,)))
        for chart, label, short in (
            (repeats_chart(comparison.analysis.points), "Measure", "Repeats"),
            (spectra_chart(comparison), "Point", "Percentiles"),
        ):
            body = chooser(chart, label) + figure(chart)
            sections.append(Section(chart.id, chart.title, body, (chart,), short=short))
    return page(f"{b.label} against {a.label}", sections, lead)


def _facts(name: str, run: Run) -> str:
    targets = dict.fromkeys(point.spec.target for point in run.points)
    command = run.manifest.get("command", ())
    restart = run.manifest.get(COMPARED, {}).get("restart")
    facts = (
        f"{name}: {run.label} ({run.path})",
        ", ".join(targets),
        start_date(run.manifest),
        tester(run.manifest),
        shlex.join(map(str, command)),
        f"--restart {shlex.quote(restart)}" if restart else "",
    )
    return f'<p class="facts">{escape(" · ".join(filter(None, facts)))}</p>'


def comparison_section(report: Report) -> Section | None:
    """Return the comparison of two runs in their report, or why they are not compared."""
    if len(report.runs) != 2 or not any(
        len(report.runs_of(suite, operation)) == 2
        for suite in report.present
        for operation in report.operations(suite)
    ):
        return None
    a, b = (run.path for run in report.runs)
    title = f"{report.runs[1].label} (B) against {report.runs[0].label} (A)"
    try:
        body = _answers(compare_runs(read_run(a), read_run(b))).body
    except BadInput as error:
        body = f"<p>Not compared: {escape(error.message)}. {escape(error.remedy)}.</p>"
    return Section("compared", title, body, short="Compared")


def _answers(comparison: Comparison) -> Section:
    analysis = comparison.analysis
    answers = "".join(
        f'<p class="headline">{_stamp(point)} {escape(words.answer(point))}</p>'
        for point in analysis.points
    )
    remarks = "".join(
        f'<li><b>{escape(r.message)}</b><span class="remedy">{escape(r.remedy)}</span></li>'
        for r in comparison.remarks
    )
    numbers = ""
    for point in analysis.points:
        numbers += "".join(map(to_html, words.tables(point, analysis.design)))
        for line in (*point.left_out, *map(str, point.missing)):
            numbers += f'<p class="note">left out: {escape(line)}</p>'
    notes = f'<p class="note">{escape(words.describe_procedure(analysis))}</p>'
    notes += f'<p class="note">{escape(words.meaning(analysis.design))}</p>'
    listed = f'<ul class="warnings">{remarks}</ul>' if remarks else ""
    return Section("answer", "Answer", answers + listed + numbers + notes)


def _stamp(point: Compared) -> str:
    word, mark = words.stamp(point)
    return f'<span class="stamp{" " if mark else ""}{mark}">{word}</span>'
