"""The objectives of each point: met, missed or not known, and the figures measured."""

from __future__ import annotations

from sitebench.measure.objective import Objective, ObjectiveState
from sitebench.measure.outcomes import Outcome
from sitebench.report.model import Report, Run
from sitebench.runs.repeats import Series
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.tables.tables import point_name

_STATES = {
    ObjectiveState.MET: Cell(Outcome.PASSED, Mark.PASS),
    ObjectiveState.BROKEN: Cell(Outcome.MISSED, Mark.FAIL),
    ObjectiveState.UNKNOWN: Cell(Outcome.UNKNOWN, Mark.FAIL),
}


_WORST_FIRST = (ObjectiveState.BROKEN, ObjectiveState.UNKNOWN, ObjectiveState.MET)


def tables(report: Report) -> list[Table]:
    return [_table(report, run, goal) for run in report.runs if (goal := run.objective)]


def in_words(run: Run, series: Series) -> list[str]:
    """Return the outcome of each condition of the objective: the worst of the repeats."""
    if (objective := run.objective) is None:
        return []
    words = []
    for outcomes in zip(*(objective.judge(r).outcomes for r in series.results), strict=True):
        state = next(s for s in _WORST_FIRST if s in {outcome.state for outcome in outcomes})
        word = _STATES[state].text if series.valid else Outcome.INVALID
        words.append(f"objective {outcomes[0].condition}: {word}")
    return words


def _table(report: Report, run: Run, objective: Objective) -> Table:
    rows: list[Row] = []
    for result in run.results:
        name = point_name(result.spec)
        for outcome in objective.judge(result).outcomes:
            state = _STATES[outcome.state]
            if not result.verdict.valid:
                reason = f"{result.verdict.bound}: {result.verdict.evidence}"
                state = Cell(Outcome.INVALID, Mark.FAIL, reason)
            rows.append([name, str(outcome.condition), state, outcome.words])
            name = ""
    columns = ("Point", "Objective", "Outcome", "Measured")
    return Table(report.title_for("Objectives", run), columns, rows, left=4)
