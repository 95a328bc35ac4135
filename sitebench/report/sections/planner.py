"""The capacity planner with the rates of these runs, and sliders.

A suite has a planner if these runs measured the operations of its scenario. It begins with these
rates; the machines of the papers are further choices.
"""

from __future__ import annotations

from sitebench.plan.choose import on_first
from sitebench.plan.measured import tables_of
from sitebench.plan.page import planner_fragment
from sitebench.plan.suite import plan_suites
from sitebench.report.model import Report
from sitebench.report.page import Section


def section(report: Report) -> Section | None:
    """Return the planner; the policy of the page lists its script by digest."""
    results = [result for run in report.runs for result in run.results]
    measured = [(suite, tables_of(results, suite)) for suite in plan_suites()]
    rates = {suite.name: rates for suite, rates in measured if on_first(suite, rates)}
    if not rates:
        return None
    body, script = planner_fragment(rates)
    return Section("plan", "Capacity planner", body, scripts=(script,), short="Planner")
