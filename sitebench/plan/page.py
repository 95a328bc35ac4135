"""The planner in an HTML report: sliders, and a script with the formulas of `model`.

Without the script, and on paper, the page shows the plan's answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from sitebench.plan.choose import Plan, on_first
from sitebench.plan.choose import plan as planned
from sitebench.plan.entries import CONVERTED, Entry, entries
from sitebench.plan.model import (
    PERCENTILES,
    Law,
    Step,
    law_of,
    rate_key,
    wait_factor,
    with_all,
)
from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.render import ANSWERS, answer_text
from sitebench.plan.suite import PlanSuite, plan_suites

_Slider = tuple[float, float, float]
"""Bounds and step of a slider."""

_SLIDERS: dict[str, _Slider] = {
    "view_s": (1, 120, 1),
    "session_min": (1, 240, 1),
    "headroom": (0, 90, 1),
    "community": (3, 9, 0.01),
}


def planner_fragment(rates: Mapping[str, Sequence[RateTable]]) -> tuple[str, str]:
    """Return planners as HTML, and their script; `rates` has the measured machines by suite."""
    planners = [_planner(s, rates[s.name]) for s in plan_suites() if s.name in rates]
    laws = ", ".join(f"{_literal(p.suite.name)}: {_steps(p.law.steps)}" for p in planners)
    data = _literal({planner.suite.name: planner.data for planner in planners})
    planner = files("sitebench.plan").joinpath("planner.js").read_text()
    script = f"{{const LAWS = {{{laws}}};\nconst DATA = {data};\n{planner}}}"
    sections = "".join(map(_section, planners))
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
    return _Planner(plan, operations, all_tables, law)


def _steps(steps: Sequence[Step]) -> str:
    def name(key: str) -> str:
        return f"v[{_literal(key)}]"

    entries = (f"[{_literal(s.key)}, (v) => {s.formula.script(name)}]" for s in steps)
    return f"[{', '.join(entries)}]"


def _section(planner: _Planner) -> str:
    top = 0.2 if planner.plan.scenario.active <= 0.2 else 1.0
    chart = _CHART.replace("TOP", f"{top:g}").replace("MOST", f"{top:.0%}")
    prefix = f"plan-{planner.suite.name}"
    sliders: dict[str, _Slider] = {"active": (0.1, 100 * top, 0.1), **_SLIDERS}
    sliders |= {f"n_{name}": (0, 50, 1) for name in planner.operations}
    fields = "".join(
        _field(prefix, entry, sliders.get(entry.key))
        for entry in entries(planner.plan.scenario, planner.operations)
    )
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


def _field(prefix: str, entry: Entry, slider: _Slider | None) -> str:
    """Return an input field; the law gets the typed number, divided by `per` and times `times`."""
    percent = 100 if entry.is_share else 1
    name, times, per = CONVERTED.get(entry.key, (entry.key, 1, percent))
    key, label = escape(name), escape(f"{entry.label}, %" if entry.is_share else entry.label)
    value = f"{float(f'{entry.value * percent:.6g}'):.15g}"
    range_input = ""
    if slider is not None:
        low, high, step = slider
        is_log = entry.key == "community"
        position = "6" if is_log else value
        log = ' data-log="1"' if is_log else ""
        range_input = (
            f'<input type="range" min="{low:g}" max="{high:g}" step="{step:g}" value="{position}"'
            f' data-of="{key}"{log} aria-label="{label}, slider">'
        )
    return (
        f'<div class="plan-field"><label for="{prefix}-{key}">{label}</label>{range_input}'
        f'<input type="number" id="{prefix}-{key}" name="{key}" value="{value}" step="any"'
        f' min="{entry.low * percent:.15g}" max="{entry.high * percent:.15g}" data-per="{per}"'
        f' data-times="{times}"></div>'
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
