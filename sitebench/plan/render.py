"""A plan as tables and as a JSON object."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from sitebench.plan.choose import Plan
from sitebench.plan.model import PERCENTILES, Step, law_of, round_half_up, solve
from sitebench.plan.rates import UNSTATED
from sitebench.plan.suite import Calculation, PlanSuite
from sitebench.tables.table import Cell, Mark, Table
from sitebench.tables.terminal import Printable, to_text
from sitebench.units import format_duration, format_percent, format_rate, format_size

_MOST_COLUMNS = 4
"""Largest number of machines shown as columns in a terminal; more machines are shown as rows."""


def render(plan: Plan, rest: Sequence[Plan]) -> list[Printable]:
    return [
        _inputs(plan),
        _answers([plan, *rest]),
        to_text(Cell("The law: people present = arrivals x time of their stay", Mark.PRIMARY)),
        *(f"  {line}" for line in law_lines(plan)),
        "",
        _what_if_table(plan),
        *(part for calculation in plan.calculations for part in _calculation(calculation)),
        *_example_of_1997(plan),
        *(f"* {warning}" for warning in plan.warnings),
    ]


def _inputs(plan: Plan) -> Table:
    scenario, values = plan.scenario, plan.values
    stay = "A visitor looks at a page for" if scenario.mix is None else "Length of a session"
    inputs = [
        ("Share of the community active at once", format_percent(scenario.active)),
        (stay, format_duration(scenario.stay_s)),
    ]
    if scenario.mix is None:
        inputs.append(("Pages/s of one machine", format_rate(values["pages_per_s"])))
    for name, number in (scenario.mix or {}).items():
        rate = values.get(f"rate_{name}")
        suffix = "" if rate is None else f" at {format_rate(rate)}/s"
        inputs.append((f"{name} per session", f"{number:g}{suffix}"))
    inputs.append(("Headroom left on each machine", format_percent(scenario.headroom)))
    if scenario.burst != 1:
        inputs.append(("Arrivals in the busiest minutes", format_percent(scenario.burst)))
    if scenario.objective is not None:
        share, bound = scenario.objective
        name = next(name for name, value in PERCENTILES.items() if value == share)
        inputs.append(("Estimated response time", f"{name} < {format_duration(bound)}"))
        inputs.append(("Cores of each machine", f"{scenario.cores}"))
        if scenario.mix is not None:
            inputs.append(("Utilisation limit for the objective", f"{values['queue_limit']:.1%}"))
    if scenario.community is not None:
        inputs.append(("Community to serve", f"{scenario.community:,}"))
    if scenario.mix is not None and plan.suite.people_in:
        inputs.insert(0, (f"Each machine's {plan.suite.people_in} lists", _people_text(plan)))
    size = "" if plan.size == UNSTATED else f", rates at {format_size(plan.size)} people"
    rows = [*inputs, ("Machine", plan.machine + size)]
    return Table(f"{plan.suite.title}: inputs", ("Input", "Value"), rows)


def _people_text(plan: Plan) -> str:
    if plan.scenario.lists_all:
        return "the whole community"
    online, community = plan.values.get("online"), plan.scenario.community
    share = "" if online is None else f": {round_half_up(online):,} of {community:,}"
    return f"those online{share} (--lists all: the whole community)"


def number(value: float) -> str:
    """Format a number with four digits; a large number has all its digits and no decimals."""
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:,.4g}"


ANSWERS = {
    "simultaneous": "Simultaneous users of one machine",
    "served": "Community that one machine serves",
    "online": "Active at once in the community",
    "machines": "Machines needed",
    "busy": "How busy each of them is",
}


def answer_text(plan: Plan, key: str) -> str:
    """Return an answer in words; an empty text if the plan does not have this answer."""
    if (value := plan.values.get(key)) is None:
        return ""
    return f"{value:.1%}" if key == "busy" else f"{round_half_up(value):,}"


def _answers(plans: Sequence[Plan]) -> Table:
    names = [
        plan.machine if plan.size == UNSTATED else f"{plan.machine}\n{format_size(plan.size)}"
        for plan in plans
    ]
    rows = [
        {label: answer_text(plan, key) for key, label in ANSWERS.items() if key in plan.values}
        for plan in plans
    ]
    if len(plans) <= _MOST_COLUMNS:
        by_answer = [[name, *(row[name] for row in rows)] for name in rows[0]]
        return Table("Capacity", ("Answer", *names), by_answer)
    columns = ("Machine", *(textwrap.fill(name, 20) for name in rows[0]))
    by_machine = [[name, *row.values()] for name, row in zip(names, rows, strict=True)]
    return Table("Capacity", columns, by_machine)


def law_lines(plan: Plan) -> list[str]:
    return _steps(_solved_steps(plan), plan.values)


def _steps(steps: Sequence[Step], values: Mapping[str, float]) -> list[str]:
    return [
        f"{step.key.replace('_', ' ')} = {step.formula.words(values)} = "
        f"{number(values[step.key])} {step.unit}"
        for step in steps
    ]


def _calculation(calculation: Calculation) -> list[Printable]:
    rows = [[name, number(value)] for name, value in calculation.inputs.values()]
    lines = [f"  {line}" for line in _steps(calculation.steps, calculation.values)]
    return [Table(calculation.title, ("Input", "Value"), rows), *lines, *calculation.notes, ""]


def _solved_steps(plan: Plan) -> list[Step]:
    return [step for step in law_of(plan.scenario).steps if step.key in plan.values]


def _what_ifs(plan: Plan) -> list[tuple[str, Mapping[str, float]]]:
    """Return the answers for half and double the active share, and for half and double the stay."""
    stay = "seconds per page" if plan.scenario.mix is None else "session"
    scenario, cases = plan.scenario, [("as asked", plan.values)]
    for times, word in ((0.5, "half"), (2.0, "double")):
        if scenario.active * times <= 1:
            less = replace(scenario, active=scenario.active * times)
            cases.append((f"{word} the active share", solve(less, plan.rates)))
        other = replace(scenario, stay_s=scenario.stay_s * times)
        cases.append((f"{word} the {stay}", solve(other, plan.rates)))
    return cases


def _what_if_table(plan: Plan) -> Table:
    machines = ["Machines"] if "machines" in plan.values else []
    rows = [
        [
            name,
            *(f"{round_half_up(values[key]):,}" for key in ("simultaneous", "served")),
            *(f"{values['machines']:,.0f}" for _ in machines),
        ]
        for name, values in _what_ifs(plan)
    ]
    return Table("What if", ("What if", "Simultaneous", "Community", *machines), rows)


def compared_with_1997(suite: PlanSuite) -> list[dict[str, Any]]:
    """Return the answers that the paper prints for its own inputs, beside our answers."""
    rows = []
    for printed in suite.printed:
        table = suite.presets[printed.preset]
        figures = _figures(solve(suite.scenario, table.rates_at(suite.size)))
        rows.append(
            {
                "machine": table.machine,
                "size": suite.size,
                **figures,
                "printed_simultaneous": printed.simultaneous,
                "printed_community": printed.community,
                "printed_near": printed.near,
                "differs": not printed.matches_printed(**figures),
            }
        )
    return rows


def _example_of_1997(plan: Plan) -> list[Printable]:
    """Return the paper's example, if the plan uses the paper's rates."""
    suite = plan.suite
    if plan.machine not in {table.machine for table in suite.presets.values()}:
        return []
    answers = compared_with_1997(suite)
    rows = [
        [
            answer["machine"],
            f"{'near ' if answer['printed_near'] else ''}"
            f"{answer['printed_simultaneous']:,} / {answer['printed_community']:,}",
            f"{answer['simultaneous']:,} / {answer['community']:,}",
        ]
        for answer in answers
    ]
    lines = ["They agree."]
    if any(answer["differs"] for answer in answers):
        times = " and ".join(
            f"{answer['simultaneous'] / answer['printed_simultaneous']:.0f}" for answer in answers
        )
        first, *rest = suite.explain()
        lines = [f"They differ: the answers of sitebench are {times} times as high. {first}", *rest]
    title = "1997's own example: simultaneous users / community"
    return [Table(title, ("Machine", "Printed", "Ours"), rows), *lines, ""]


def document(plan: Plan, rest: Sequence[Plan]) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    calculations = [
        {"title": law.title, "values": law.values, "law": _steps(law.steps, law.values)}
        for law in plan.calculations
    ]
    return {
        "suite": plan.suite.name,
        **_plan_json(plan),
        "law": [
            {"key": step.key, "formula": step.formula.words(plan.values), "unit": step.unit}
            for step in _solved_steps(plan)
        ],
        "what_if": [{"case": name, **_figures(values)} for name, values in _what_ifs(plan)],
        "beside": list(map(_plan_json, rest)),
        **({"calculations": calculations} if calculations else {}),
        "printed_1997": compared_with_1997(plan.suite),
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "machine": plan.machine,
        "size": None if plan.size == UNSTATED else plan.size,
        "values": dict(plan.values),
        "answers": _figures(plan.values),
        "doubts": list(plan.warnings),
    }


def _figures(values: Mapping[str, float]) -> dict[str, int]:
    names = {"simultaneous": "simultaneous", "served": "community", "machines": "machines"}
    return {name: round_half_up(values[key]) for key, name in names.items() if key in values}
