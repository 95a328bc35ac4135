"""The result of `sitebench.run`."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sitebench._engine import Histogram
from sitebench.counts.durations import percentile_ns, with_censored
from sitebench.counts.metrics import CENSORED, LATENCY
from sitebench.errors import NotDecided, ObjectiveMissed
from sitebench.measure.objective import Objective, ObjectiveState
from sitebench.measure.outcomes import Outcome, judge_result, missed_objectives
from sitebench.options.arguments import check_arguments
from sitebench.runs.point import PointResult, PointSpec, counted_steps
from sitebench.runs.runfile import RunFile
from sitebench.runs.timeline import MEASURED, Slot, merge_clocks, slots
from sitebench.units import format_ns, format_rate, plural
from sitebench.verdict.verdict import Quoted

_MOST_SLOTS = 120


@dataclass(frozen=True)
class Result:
    """The result of one measurement, with its histogram and its timeline.

    `print` shows the result as a line; a notebook shows a table and a chart.
    """

    point: PointResult
    latency: Histogram = field(compare=False)
    """Latencies of the counted operations in nanoseconds. For an operation without an answer the
    time until it was given up is a lower bound."""
    timeline: Sequence[Slot] = field(compare=False)
    """Operations, failures and latencies in successive intervals, including the warm-up."""

    @classmethod
    def from_file(cls, path: Path, spec: PointSpec) -> Result:
        """Read a measured point of a run file."""
        with RunFile(path) as file:
            (stored,) = [point for point in file.points() if point.spec.key == spec.key]
            assert stored.result is not None
            latency = with_censored(*merge_clocks(file, stored, LATENCY, CENSORED))
            timeline = slots(
                file.timeline(stored.id), counted_steps(stored.result.steps), _MOST_SLOTS
            )
            return cls(stored.result, latency, timeline)

    @property
    def ops_per_s(self) -> float:
        """Successful operations per second of the measured window."""
        return self.point.ops_per_s

    @property
    def sent(self) -> int:
        """Number of requests sent in the whole test, including its warm-up and its end."""
        return self.point.sent

    @property
    def failures(self) -> int:
        """Failed steps of every kind."""
        return self.point.failures

    @property
    def valid(self) -> bool:
        """Whether the target was the limit and its rate was steady."""
        return self.point.verdict.valid

    @property
    def bound(self) -> str:
        """The resource or rule that limited the rate."""
        return str(self.point.verdict.bound)

    @check_arguments
    def percentile(self, q: float) -> float | None:
        """Return the latency in seconds that `q` percent of the operations did not exceed.

        Return None if fewer than 100 operations exceeded this latency.
        """
        ns = percentile_ns(self.latency, q)
        return None if ns is None else ns / 1e9

    @check_arguments
    def check(self, objective: str) -> None:
        """Do nothing if an objective such as "p99<5ms,failures<0.1%" is met.

        Raise ObjectiveMissed if the objective is missed. Raise NotDecided if that is unknown,
        because a percentile has too few samples or the target was not the limit.
        """
        goal = Objective.parse(objective)
        judged = judge_result(self.point, goal)
        if judged.outcome is Outcome.PASSED:
            return
        (line,) = missed_objectives([judged])
        if judged.outcome is Outcome.INVALID:
            raise NotDecided(line, "see `sitebench docs troubleshooting`")
        if goal.judge(self.point).state is ObjectiveState.BROKEN:
            evidence = self.point.verdict.evidence
            raise ObjectiveMissed(line, f"limit of the rate: {self.bound}: {evidence}")
        remedy = "raise measure_s, or leave this condition out of the objective"
        if self.point.verdict.latency_at_most:
            remedy = f"end other programs, which delay the target; {remedy}"
        raise NotDecided(line, remedy)

    @property
    def _least(self) -> str:
        return ">= " if self.point.verdict.grade == Quoted.AT_LEAST else ""

    def _mark(self, name: str) -> str:
        latency = self.point.clocks[LATENCY]
        us: float | None = getattr(latency, name)
        if us is None:
            return f"n/a (n={latency.n:,})"
        return f"{self.point.latency_sign(name)}{format_ns(us * 1e3)}"

    def __repr__(self) -> str:
        spec = self.point.spec
        trust = "" if self.valid else f", {self.point.verdict.grade.upper()}"
        by_number = sorted(self.point.failures_by_kind.items(), key=lambda kind: -kind[1])
        kinds = ", ".join(f"{kind} x {n:,}" for kind, n in by_number)
        failures = plural(self.failures, "failure") + (f" ({kinds})" if kinds else "")
        return (
            f"<{spec.title}: {self._least}{format_rate(self.ops_per_s)}/s, "
            f"p50 {self._mark('p50')}, p99 {self._mark('p99')}, "
            f"{failures}, bound by {self.bound}{trust}>"
        )

    def _repr_html_(self) -> str:
        facts = {
            "operations per second": f"{self._least}{format_rate(self.ops_per_s)}",
            "p50, p99, max": ", ".join(map(self._mark, ("p50", "p99", "max"))),
            "failures": f"{self.failures:,}",
            "bound by": self.bound if self.valid else f"{self.bound} ({self.point.verdict.grade})",
            "evidence": self.point.verdict.evidence,
        }
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in facts.items()
        )
        spec = self.point.spec
        title = f"{spec.title}, {spec.target}"
        return f"<b>{html.escape(title)}</b><table>{rows}</table>{self._chart()}"

    def _chart(self) -> str:
        from sitebench.report.bundle import NoVlConvert, load_vl_convert
        from sitebench.report.charts import INK, SERIES, theme

        try:
            vl_convert = load_vl_convert("figures")
        except NoVlConvert as error:
            return f"<p>For a chart: <code>{html.escape(error.remedy)}</code></p>"
        began = self.timeline[0].t0_ns
        values = [
            {
                "from": (slot.t0_ns - began) / 1e9,
                "to": (slot.t1_ns - began) / 1e9,
                "rate": slot.ops_per_s,
                "phase": MEASURED if slot.phase == MEASURED else "not measured",
            }
            for slot in self.timeline
        ]
        colours = {"domain": [MEASURED, "not measured"], "range": [SERIES[0], INK["line"]]}
        spec = {
            "width": 420,
            "height": 110,
            "data": {"values": values},
            "mark": "bar",
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "title": "seconds"},
                "x2": {"field": "to"},
                "y": {"field": "rate", "type": "quantitative", "title": "operations/s"},
                "color": {"field": "phase", "title": None, "scale": colours},
            },
        }
        drawn: str = vl_convert.vegalite_to_svg(spec, config=theme(css=False))
        return drawn
