"""The capacity planner with the rates of these runs, and sliders."""

from __future__ import annotations

import re

from sitebench.plan.measured import tables_of
from sitebench.plan.page import planner_fragment
from sitebench.plan.suite import plan_suites
from sitebench.report.model import Report
from sitebench.report.page import Section

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def section(report: Report) -> Section | None:
    """Return the planner; its scripts move to the page, whose policy lists them by digest."""
    results = [result for run in report.runs for result in run.results]
    rates = {each.name: tables_of(results, each) for each in plan_suites()}
    if not any(rates.values()):
        return None
    fragment = planner_fragment(rates)
    scripts = tuple(_SCRIPT.findall(fragment))
    return Section(
        "plan", "Capacity planner", _SCRIPT.sub("", fragment), scripts=scripts, short="Planner"
    )
