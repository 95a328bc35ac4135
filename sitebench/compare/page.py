"""A comparison as one page: the answer, the warnings, both sides overlaid."""

from __future__ import annotations

from html import escape

from sitebench.compare import wording as words
from sitebench.compare.comparison import Compared
from sitebench.compare.figures import (
    REPEATS_CHOOSER,
    SPECTRA_CHOOSER,
    ratio_chart,
    repeats_chart,
    spectra_chart,
)
from sitebench.compare.runs import Comparison
from sitebench.compare.tables import tables
from sitebench.report.page import Section, chooser, figure, page


def comparison_page(comparison: Comparison) -> str:
    """Return the whole document."""
    a, b = comparison.a, comparison.b
    lead = "".join(
        f'<p class="facts">{escape(name)}: {escape(run.label)} ({escape(str(run.path))})</p>'
        for name, run in (("A", a), ("B", b))
    )
    lead += "".join(
        f'<p class="facts">{escape(d.name)}: {escape(d.a)} / {escape(d.b)}</p>'
        for d in comparison.asked
    )
    sections = [_answers(comparison)]
    if any(point.rows for point in comparison.analysis.points):
        sections += [_ratios(comparison), _repeats(comparison), _spectra(comparison)]
    return page(f"{b.label} against {a.label}", sections, lead)


def _answers(comparison: Comparison) -> Section:
    analysis = comparison.analysis
    said = "".join(
        f'<p class="headline">{_stamp(point)} {escape(words.answer(point))}</p>'
        for point in analysis.points
    )
    remarks = "".join(
        f'<li><b>{escape(r.message)}</b><span class="remedy">{escape(r.remedy)}</span></li>'
        for r in comparison.remarks
    )
    numbers = "".join(
        "".join(table.to_html() for table in tables(point, analysis.design)) + _left_out(point)
        for point in analysis.points
    )
    notes = f'<p class="note">{escape(words.decided(analysis))} {escape(words.COLUMNS)}</p>'
    listed = f'<ul class="warnings">{remarks}</ul>' if remarks else ""
    return Section("answer", "Answer", said + listed + numbers + notes)


def _stamp(point: Compared) -> str:
    """Return the answer in a word: by what is seen, what it means for a user of B."""
    verdicts = {row.verdict for row in point.rows if row.differs}
    if "slower" in verdicts:
        return '<span class="stamp bad">Slower</span>'
    if "faster" in verdicts:
        return '<span class="stamp good">Faster</span>'
    if not point.rows or not point.rows[0].enough:
        return '<span class="stamp doubt">Cannot say</span>'
    return '<span class="stamp">No difference</span>'


def _left_out(point: Compared) -> str:
    lines = (*point.left_out, *point.missing)
    return "".join(f'<p class="note">left out: {escape(line)}</p>' for line in lines)


def _ratios(comparison: Comparison) -> Section:
    chart = ratio_chart(comparison.analysis.points)
    return Section("ratios", "Ratios", figure(chart), (chart,))


def _repeats(comparison: Comparison) -> Section:
    chart = repeats_chart(comparison.analysis.points)
    body = chooser(REPEATS_CHOOSER, "Measure", [("", list(chart.titles.items()))]) + figure(chart)
    return Section("repeats", "Every repeat", body, (chart,), short="Repeats")


def _spectra(comparison: Comparison) -> Section:
    chart = spectra_chart(comparison)
    body = chooser(SPECTRA_CHOOSER, "Point", [("", list(chart.titles.items()))]) + figure(chart)
    return Section("spectra", "Percentile spectra", body, (chart,), short="Percentiles")
