"""The planner in an HTML report: sliders, and a script with the formulas of `model`.

Without the script, and on paper, the page shows the plan's answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.plan.choose import Plan, on_first, with_calculations
from sitebench.plan.choose import plan as planned
from sitebench.plan.model import (
    PERCENTILES,
    Law,
    Scenario,
    Step,
    law_of,
    rate_key,
    wait_factor,
    with_all,
)
from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.render import ANSWERS, answer_text
from sitebench.plan.suite import Calculation, PlanSuite, plan_suites


class _Field(msgspec.Struct, frozen=True):
    """An input field; the law gets the typed number, divided by `per` and multiplied by `times`."""

    key: str
    label: str
    value: float
    least: float
    most: float
    slider: tuple[float, float, float] | None
    per: int = 1
    times: int = 1
    log: bool = False


def planner_fragment(rates: Mapping[str, Sequence[RateTable]]) -> tuple[str, str]:
    """Return planners as HTML, and their script; `rates` has the measured machines by suite."""
    planners = [_planner(s, rates[s.name]) for s in plan_suites() if s.name in rates]
    laws = ", ".join(
        f"{_literal(name)}: {_laws(steps)}" for planner in planners for name, steps in planner.laws
    )
    data = _literal({planner.suite.name: planner.data for planner in planners})
    planner = files("sitebench.plan").joinpath("planner.js").read_text()
    script = f"{{const LAWS = {{{laws}}};\nconst DATA = {data};\n{planner}}}"
    sections = "".join(_section(planner) + _other_laws(planner) for planner in planners)
    return f'<div class="plan-planner">{sections}</div>', script


def _literal(value: object) -> str:
    """Return a value for a script, without `</script>`."""
    return json.dumps(value).replace("<", "\\u003c")


class _Planner(msgspec.Struct, frozen=True):
    plan: Plan
    operations: tuple[str, ...]
    tables: tuple[RateTable, ...]
    law: Law

    @property
    def suite(self) -> PlanSuite:
        return self.plan.suite

    @property
    def laws(self) -> list[tuple[str, Sequence[Step]]]:
        """Names and steps: first of the plan's law, then of the suite's further laws."""
        calculations = enumerate(self.plan.calculations)
        return [
            (self.suite.name, self.law.steps),
            *((f"{self.suite.name}-{n}", calculation.steps) for n, calculation in calculations),
        ]

    @property
    def data(self) -> list[dict[str, Any]]:
        """The machines' rates for the script, with remarks for each size."""
        keys = {name: rate_key(self.plan.scenario, name) for name in self.operations}
        return [
            {
                "sizes": table.sizes,
                "rates": {key: table.rates.get(name, ()) for name, key in keys.items()},
                "remarks": [
                    [(r.operation, str(r)) for r in table.remarks if r.size == size]
                    for size in table.sizes
                ],
            }
            for table in self.tables
        ]


def _planner(suite: PlanSuite, tables: Sequence[RateTable]) -> _Planner:
    presets = tuple(suite.presets.values())
    plan, first = on_first(suite, tables) or (
        planned(suite, suite.scenario, presets[0], suite.size),
        presets[0],
    )
    all_tables = (first, *(table for table in (*tables, *presets) if table is not first))
    operations = tuple(dict.fromkeys(name for table in all_tables for name in table.rates))
    law = law_of(with_all(plan.scenario, operations))
    return _Planner(with_calculations(plan), operations, all_tables, law)


def _laws(steps: Sequence[Step]) -> str:
    def name(key: str) -> str:
        return f"v[{_literal(key)}]"

    entries = (f"[{_literal(s.key)}, (v) => {s.formula.script(name)}]" for s in steps)
    return f"[{', '.join(entries)}]"


def _fields(planner: _Planner) -> Iterator[_Field]:
    scenario = planner.plan.scenario
    top = 100 * _top(scenario)
    share = _Field("active", "Active at once, % of the community", 4, 0.001, 100, (0.1, top, 0.1))
    yield _percent(share, scenario.active)
    if scenario.mix is None:
        yield _Field(
            "view_s", "Seconds a visitor looks at a page", scenario.stay_s, 0.001, 1e9, (1, 120, 1)
        )
    else:
        minutes = scenario.stay_s / 60
        yield _Field(
            "session_s", "Minutes of a session", minutes, 0.001, 1e9, (1, 240, 1), times=60
        )
    for name in planner.operations if scenario.mix is not None else ():
        number = (scenario.mix or {}).get(name, 0.0)
        yield _Field(f"n_{name}", f"{name} per session", number, 0, 1e6, (0, 50, 1))
    free = _Field("headroom", "Headroom: % of a machine left free", 0, 0, 99.9, (0, 90, 1))
    yield _percent(free, scenario.headroom)
    yield _Field("community", "Community to serve", 1e6, 1, 1e12, (3, 9, 0.01), log=True)
    peaks = _Field("burst", "Arrivals in the busiest minutes, % of average", 0, 100, 1e6, None)
    yield _percent(peaks, scenario.burst)
    if scenario.mix is None:
        yield _Field("objective_s", "Objective in ms (0: none)", 0, 0, 1e9, None, per=1000)
        cores = "Cores of a machine, for the objective"
        yield _Field("cores", cores, scenario.cores, 1, 1e4, None)
    else:
        label = "How busy a machine may be for an objective, %"
        yield _percent(_Field("queue_limit", label, 100, 0.1, 100, None), 1.0)


def _top(scenario: Scenario) -> float:
    return 0.2 if scenario.active <= 0.2 else 1.0


def _percent(field: _Field, share: float) -> _Field:
    return replace(field, value=share * 100, per=100)


def _section(planner: _Planner) -> str:
    top = _top(planner.plan.scenario)
    chart = _CHART.replace("TOP", f"{top:g}").replace("MOST", f"{top:.0%}")
    prefix = f"plan-{planner.suite.name}"
    fields = "".join(_field(prefix, field) for field in _fields(planner))
    machines = "".join(
        f'<option value="{n}">{escape(table.machine)}</option>'
        for n, table in enumerate(planner.tables)
    )
    factors = "".join(
        f'<option value="{wait_factor(share)!r}"{" selected" if name == "p99" else ""}>'
        f"{name}</option>"
        for name, share in PERCENTILES.items()
    )
    sized = any(table.sizes != (UNSTATED,) for table in planner.tables)
    choices = _choice(prefix, "machine", "Machine", machines)
    choices += _choice(prefix, "size", "Size measured", "", hidden=not sized)
    note = ""
    if planner.plan.scenario.mix is None:
        label = "Objective: percentile (estimated, M/M/c)"
        choices = _choice(prefix, "wait_factor", label, factors) + choices
    else:
        listed = (
            '<option value="0">those online</option><option value="1">the whole community</option>'
        )
        if planner.suite.people_in:
            label = f"People that each machine's {planner.suite.people_in} lists"
            choices = _choice(prefix, "lists_all", label, listed) + choices
        note = (
            '<p class="note">How busy a machine may be for an objective depends on the mix, the '
            f"rates and the cores: <code>sitebench plan {planner.suite.name} --objective "
            "'p99&lt;50ms'</code> with the same inputs finds it. 100%: no objective.</p>"
        )
    plan = planner.plan
    answers = "".join(_row(label, key, answer_text(plan, key)) for key, label in ANSWERS.items())
    return (
        f'<section class="plan-suite" data-suite="{planner.suite.name}"'
        f' aria-labelledby="{prefix}-title">'
        f'<h3 id="{prefix}-title">{planner.suite.title}</h3>'
        f'<div class="plan-inputs" role="group" aria-label="Inputs">{fields}{choices}</div>{note}'
        f'<table class="plan-answers"><tbody>{answers}</tbody></table>'
        f'<p class="plan-warning" role="status"></p>{chart}</section>'
    )


def _other_laws(planner: _Planner) -> str:
    pairs = zip(planner.laws[1:], planner.plan.calculations, strict=True)
    laws = "".join(_other(f"plan-{name}", name, calculation) for (name, _), calculation in pairs)
    title = f"{planner.suite.title}: {', '.join(m.title for m in planner.plan.calculations)}"
    return f"<details><summary>{escape(title)}</summary>{laws}</details>" if laws else ""


def _other(prefix: str, name: str, calculation: Calculation) -> str:
    fields = "".join(
        _field(prefix, _Field(key, label, number, 0, 1e15, _slider(number)))
        for key, (label, number) in calculation.inputs.items()
    )
    rows = "".join(
        _row(f"{step.meaning}, {step.unit}", step.key, f"{calculation.values[step.key]:,.6g}")
        for step in calculation.steps
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in calculation.notes)
    return (
        f'<section class="plan-suite" data-law="{name}" aria-labelledby="{prefix}-title">'
        f'<h3 id="{prefix}-title">{escape(calculation.title)}</h3>'
        f'<div class="plan-inputs" role="group" aria-label="Inputs">{fields}</div>'
        f'<table class="plan-answers"><tbody>{rows}</tbody></table>{notes}</section>'
    )


def _slider(number: float) -> tuple[float, float, float]:
    """Return a slider's bounds and step: up to 1 for shares, else up to four times the number."""
    return (0.01, 1, 0.01) if 0 < number <= 1 else (0, 4 * number, number / 100)


def _field(prefix: str, field: _Field) -> str:
    key, label = escape(field.key), escape(field.label)
    name = f"{prefix}-{key}"
    value = f"{float(f'{field.value:.6g}'):.15g}"
    slider = ""
    if field.slider is not None:
        low, high, step = field.slider
        position = "6" if field.log else value
        log = ' data-log="1"' if field.log else ""
        slider = (
            f'<input type="range" min="{low:g}" max="{high:g}" step="{step:g}" value="{position}"'
            f' data-of="{key}"{log} aria-label="{label}, slider">'
        )
    return (
        f'<div class="plan-field"><label for="{name}">{label}</label>{slider}'
        f'<input type="number" id="{name}" name="{key}" value="{value}" step="any"'
        f' min="{field.least:.15g}" max="{field.most:.15g}" data-per="{field.per}"'
        f' data-times="{field.times}"></div>'
    )


def _choice(prefix: str, name: str, label: str, options: str, *, hidden: bool = False) -> str:
    attribute = " hidden" if hidden else ""
    return (
        f'<div class="plan-field"{attribute}><label for="{prefix}-{name}">{label}</label>'
        f'<select id="{prefix}-{name}" name="{name}">{options}</select></div>'
    )


def _row(label: str, key: str, text: str) -> str:
    return (
        f'<tr><th scope="row">{escape(label)}</th>'
        f'<td><output data-answer="{escape(key)}">{text}</output></td></tr>'
    )


_CHART = (
    '<figure class="plan-chart" data-top="TOP">'
    '<svg viewBox="-4 -16 312 160" width="312" height="160" role="img"'
    ' aria-label="Community that one machine serves, against the share active at once">'
    '<path d="M0,0V120H300" fill="none" stroke="currentColor" opacity="0.4"/>'
    '<polyline fill="none" stroke="currentColor" stroke-width="2" points=""/>'
    '<circle r="4" fill="currentColor" cx="-9" cy="-9"/>'
    '<g font-size="11" fill="currentColor"><text class="plan-most" x="2" y="-4"></text>'
    '<text x="0" y="136">0%</text><text x="300" y="136" text-anchor="end">MOST active</text></g>'
    "</svg><figcaption>People served by one machine, against the share active at once"
    "</figcaption></figure>"
)
