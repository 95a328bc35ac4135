"""The capacity planner with the rates of these runs, and sliders.

A suite has one where these runs have measured what its scenario needs: it begins with this
target's own rates. The machines of the papers are further choices. Where they say what an operation
costs, its laws follow.
"""

from __future__ import annotations

import contextlib

from sitebench.errors import BadInput
from sitebench.plan.choose import on_first
from sitebench.plan.measured import tables_of
from sitebench.plan.page import planner_fragment
from sitebench.plan.suite import MeasuredRun, cost_plans, plan_suites
from sitebench.report.model import Report
from sitebench.report.page import Section


def section(report: Report) -> Section | None:
    """Return the planner; its script goes to the page, whose policy lists it by digest."""
    results = [result for run in report.runs for result in run.results]
    measured = [(each, tables_of(results, each)) for each in plan_suites()]
    rates = {suite.name: rates for suite, rates in measured if on_first(suite, rates)}
    runs = [MeasuredRun(run.label, run.manifest, run.results) for run in report.runs]
    costs = {}
    for plan in cost_plans():
        # What these runs do not say is no part of the page: the command says why.
        with contextlib.suppress(BadInput):
            costs[plan.name] = plan.answer(plan.options(), runs)
    if not rates and not costs:
        return None
    body, script = planner_fragment(rates, costs)
    return Section("plan", "Capacity planner", body, scripts=(script,), short="Planner")
