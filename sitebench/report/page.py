"""One self-contained HTML page, with style, scripts, charts and data.

Its content security policy lists every script by digest and allows no connection: a text of a run
file can neither run nor load anything.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import msgspec

from sitebench.report.bundle import bundle
from sitebench.report.charts import Chart, theme

_ASSETS = Path(__file__).parent / "assets"


class Section(msgspec.Struct, frozen=True):
    """A part of the page; `body` is HTML in which every text of a run file is escaped.

    `scripts` run after the page's own script, in the order of the sections.
    """

    id: str
    title: str
    body: str
    charts: tuple[Chart, ...] = ()
    scripts: tuple[str, ...] = ()
    short: str = ""
    """The title in the navigation at the top."""


def page(
    title: str, sections: Sequence[Section], lead: str = "", files: Mapping[str, str] | None = None
) -> str:
    """Return the whole document; `lead` is HTML between the heading and the first section.

    A link with the attribute `data-file` downloads the text of that name in `files`.
    """
    charts = [chart for section in sections for chart in section.charts]
    scripts = [script for section in sections for script in section.scripts]
    scripts = [*([bundle()] if charts else []), asset("report.js"), *scripts]
    links = "".join(
        f'<a href="#{section.id}">{escape(section.short or section.title)}</a>'
        for section in sections
    )
    parts = "".join(
        f'<section id="{section.id}" aria-labelledby="{section.id}-title">'
        f'<h2 id="{section.id}-title">{escape(section.title)}</h2>{section.body}</section>'
        for section in sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{asset('report.css')}</style></head><body>"
        '<a class="skip" href="#main">Skip to the report</a>'
        f"<header><h1>{escape(title)}</h1>{lead}</header>"
        f'<nav aria-label="Sections">{links}</nav><main id="main">{parts}</main>'
        f"{_data(charts, files or {})}{''.join(f'<script>{script}</script>' for script in scripts)}"
        "</body></html>\n"
    )


def _policy(scripts: Sequence[str]) -> str:
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def figure(chart: Chart) -> str:
    """Return the HTML into which the page's script draws a chart."""
    remarks = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in chart.key.items())
    legend = f'<dl class="remarks">{remarks}</dl>' if remarks else ""
    return (
        f'<figure class="chart" id="figure-{escape(chart.id)}" data-chart="{escape(chart.id)}">'
        f"<figcaption>{escape(chart.title)}</figcaption>"
        f'<div class="drawing" tabindex="0" role="group" aria-label="{escape(chart.description)}">'
        "<noscript>Charts need JavaScript; the tables have every number.</noscript></div>"
        f"{legend}</figure>"
    )


def chooser(chart: Chart, label: str) -> str:
    """Return the drop-down list of a chart's choices."""
    options = "".join(
        f'<option value="{escape(choice)}">{escape(title)}</option>'
        for choice, title in chart.titles.items()
    )
    return (
        f'<p class="chooser"><label for="{chart.chooser}">{escape(label)}</label> '
        f'<select id="{chart.chooser}" data-chooser>{options}</select></p>'
    )


def text_of_choice(chart: Chart, choice: str, text: str) -> str:
    """Return a paragraph that is visible while a choice is shown."""
    return (
        f'<p class="note" data-chosen-by="{chart.chooser}" data-choice="{choice}" hidden>'
        f"{escape(text)}</p>"
    )


def _data(charts: Sequence[Chart], files: Mapping[str, str]) -> str:
    document = {
        "theme": theme(css=True),
        "charts": {
            chart.id: {
                "description": chart.description,
                "chooser": chart.chooser,
                "spec": chart.spec,
                "choices": chart.choices,
            }
            for chart in charts
        },
        "files": files,
    }
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    # Deflate shrinks decimal numbers to a third, and every browser can inflate them.
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return f'<script type="application/octet-stream" id="data">{packed}</script>'
