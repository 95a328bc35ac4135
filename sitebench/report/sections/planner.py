"""The capacity planner with the rates of these runs, and sliders."""

from __future__ import annotations

from sitebench.plan.measured import tables_of
from sitebench.plan.page import planner_fragment
from sitebench.plan.suite import plan_suites
from sitebench.report.model import Report
from sitebench.report.page import Section


def section(report: Report) -> Section | None:
    """Return the planner; its script goes to the page, whose policy lists it by digest."""
    results = [result for run in report.runs for result in run.results]
    rates = {each.name: tables_of(results, each) for each in plan_suites()}
    if not any(rates.values()):
        return None
    body, script = planner_fragment(rates)
    return Section("plan", "Capacity planner", body, scripts=(script,), short="Planner")
