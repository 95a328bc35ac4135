"""`peak` of every suite: measure one load after another, and find the limit.

With client counts, a sweep measures each count, as in the papers, and an objective is judged at
each (`users.py`). With an objective alone, the search of `search.py` chooses the loads. The points
of a search are ordinary points of the run file, so that the same command with the same file
continues the search.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs
from msgspec.structs import replace

from sitebench.errors import (
    BadInput,
    Leak,
    MeasurementFailed,
    ObjectiveMissed,
    OutOfDescriptors,
    OutOfPorts,
    SitebenchError,
    WrongPassword,
)
from sitebench.measure.command import Seeding, recording, say
from sitebench.measure.objective import RATES, ROOM, Objective, ObjectiveState
from sitebench.measure.options import DEFAULT_CLIENTS, DEFAULT_USERS, PeakOptions
from sitebench.measure.outcomes import Judged, Outcome, advised_results, judge_result
from sitebench.measure.peak.curve import knee, plot, spots
from sitebench.measure.peak.search import (
    Answer,
    HighestRate,
    Reply,
    SearchPlan,
    Trial,
    reply_of,
    round_rate,
    search,
)
from sitebench.measure.peak.tables import (
    Peak,
    Probe,
    clients_peak,
    clients_table,
    key_of,
    knee_facts,
    rates_answer,
    rates_table,
    see_limit,
)
from sitebench.measure.peak.users import judge_users, users_answer
from sitebench.measure.point_process import Runner
from sitebench.measure.progress import JsonLines, LiveProgress, Shown
from sitebench.measure.sweep import Stage, measure_point, open_stage, repeat_stages, sweep
from sitebench.measure.test import Test
from sitebench.options.option import join_values
from sitebench.runs.manifest import collect, resume_facts
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.runs.store import RunStore
from sitebench.system.limits import most_connections
from sitebench.tables.advice import WhatToDo
from sitebench.tables.tables import point_name
from sitebench.tables.terminal import Printable, show
from sitebench.targets.open_target import OpenTarget
from sitebench.units import format_duration, format_rate

_MOST_USERS = 1024
"""The largest number of lanes of a search: with the portable client each lane needs a thread."""

_HOLD_WINDOWS = 3
_HOLDS = 3
"""How often the reported rate has to meet the objective, because one success can be chance."""
_PRECISION = 0.05
"""Relative gap between the highest rate that held and the lowest rate that broke."""

_FAR = 100
"""The announced length of a search assumes that the limit is this multiple of the first rate."""


class PeakJob(msgspec.Struct, frozen=True):
    stage: Callable[[Seeding], Stage]
    test: Callable[[int, float | None, float], Test]
    """Makes a test of a number of users, a rate, and a window's length in seconds."""
    facts: Callable[[], Mapping[str, Any]]
    window_s: float
    default_out: str
    afterwards: Callable[[], None] = lambda: None


_Answer = tuple[Peak, Sequence[Printable], SitebenchError | None]


def check_options(options: PeakOptions) -> None:
    if options.rate is not None:
        raise BadInput(
            "peak chooses the rates itself, so it takes no --rate",
            "use `run --rate`, or --objective with --start to begin the search at a rate",
        )
    if options.clients or options.objective is None:
        _check_clients(options)
    else:
        _check_search(options, options.objective)


def _check_clients(options: PeakOptions) -> None:
    values = {"--users": options.users, "--start": options.start, "--apart": options.apart}
    names = [name for name, value in values.items() if value]
    for name in names:
        if options.objective is None:
            remedy = "add --objective 'p99<5ms,failures<0.1%', or use --clients"
            raise BadInput(f"{name} needs --objective", remedy)
        raise BadInput(
            f"{name} applies to the search for a rate", f"leave --clients out, or {name}"
        )
    rising = sorted(set(options.clients))
    if options.objective is not None and rising != [*options.clients]:
        raise BadInput(
            f"--clients {join_values(options.clients)}: the numbers have to rise",
            f"write them as {join_values(tuple(rising))}",
        )


def _check_search(options: PeakOptions, objective: Objective) -> None:
    if options.repeats > 1:
        raise BadInput(
            "--repeats does not apply to a search",
            "leave it out: the rate is held three times",
        )
    for metric in RATES:
        if objective.about(metric):
            raise BadInput(
                f"the search varies the rate, so {metric} cannot be in its objective",
                "use latencies, failures or cpu only",
            )


def find_peak(options: PeakOptions, job: PeakJob) -> None:
    check_options(options)
    reporter = JsonLines() if options.json else _live(options)
    clients = tuple(dict.fromkeys(options.clients or DEFAULT_CLIENTS))
    limit = most_connections(options.users or DEFAULT_USERS, _MOST_USERS)
    objective = None if options.clients else options.objective
    users = max(clients) if objective is None else limit
    with (
        recording(options, reporter, users, job.default_out) as store,
        contextlib.ExitStack() as last,
    ):
        last.callback(job.afterwards)
        stage = job.stage(reporter.seeding)
        facts = dict(job.facts())
        if objective is None and options.objective is not None:
            facts |= options.objective.to_manifest()
        store.set_manifest(resume_facts(store.manifest(), collect(sys.argv[1:], facts)))
        search = _PeakSearch(options, job, stage, store, reporter)
        if objective is None:
            peak, parts, error = search.over_clients(clients)
        else:
            peak, parts, error = search.to_objective(objective, limit)
        # The answer replaces an earlier answer for the same points and objective.
        peaks, key = store.manifest().get("peaks", []), peak.key
        rest = [old for old in peaks if {name: old.get(name) for name in key} != key]
        store.set_manifest({"peaks": [*rest, peak.to_json()]})
    if options.json:
        print(json.dumps({"peak": peak.to_json()}), flush=True)
    elif options.quiet:
        show(part for part in parts if not isinstance(part, WhatToDo))
    else:
        show(parts)
        say(f"run file: {store.path}")
    if error is not None:
        raise error


def _live(options: PeakOptions) -> LiveProgress:
    """Return a progress whose lines say whether a rate or number of users met the objective."""
    objective = options.objective

    def judge(result: PointResult) -> str | None:
        if options.clients and objective is not None:
            of_users = judge_result(result, objective)
            return None if of_users.outcome is Outcome.PASSED else str(of_users.outcome)
        reply = _reply(result, objective) if objective is not None else None
        if reply is None or reply.answer is Answer.HELD:
            return None
        return f"{reply.answer}: {reply.message}"

    return LiveProgress(point_name, quiet=options.quiet, judged=judge)


class _PeakSearch(msgspec.Struct, frozen=True):
    options: PeakOptions
    job: PeakJob
    stage: Stage
    store: RunStore
    reporter: Shown

    def over_clients(self, clients: Sequence[int]) -> _Answer:
        tests = [self.job.test(users, None, self.job.window_s) for users in clients]
        stages = repeat_stages([replace(self.stage, tests=tests)], self.options.repeats)
        results = sweep(stages, self.store, self.reporter)
        curve = spots(results, lambda spec: spec.users)
        bend = knee(curve)
        peak, objective = clients_peak(series(results), bend), self.options.objective
        error: SitebenchError | None = None
        judgements: Sequence[Judged] = ()
        if objective is not None:
            judgements = judge_users(series(results), objective)
            answer, maximum, error = users_answer(results[0].spec.what, judgements, objective)
            peak = structs.replace(peak, users_objective=str(objective), users=maximum, said=answer)
        table = clients_table(series(results), bend, peak.best, judgements)
        drawn = ["", plot(curve, bend), ""]
        advised = advised_results(results, objective)
        # The message of an error replaces the sentence of the answer.
        return peak, [table, *drawn, WhatToDo(advised), *([] if error else ["", peak.said])], error

    def to_objective(self, objective: Objective, limit: int) -> _Answer:
        options, window = self.options, self.job.window_s
        needed = objective.samples() * ROOM
        plan = SearchPlan(
            start=options.start or round_rate(max(100.0, needed / window)),
            users=options.users or DEFAULT_USERS,
            most_users=limit,
            precision=_PRECISION,
            holds=_HOLDS,
            apart_s=options.apart or 0.0,
        )
        hold = _HOLD_WINDOWS * window

        def test_of(trial: Trial) -> Test:
            seconds = max(hold if trial.long else window, needed / trial.rate)
            test = self.job.test(trial.users, trial.rate, round(seconds, 3))
            return test.again(structs.replace(test.spec, repeat=trial.repeat))

        takes_s = _takes_s(plan, _FAR * plan.start, test_of)
        highest, tried = self._walk(plan, objective, test_of, takes_s)
        results = [probe.result for probe in tried if probe.result is not None]
        curve = spots(results, lambda spec: spec.rate or 0.0)
        bend = knee(curve)
        saw = see_limit(highest, tried)
        # At low rates the long window is longer, because a percentile needs a number of operations.
        held_s = max(hold, float(round(needed / highest.rate))) if highest.rate else hold
        answer = rates_answer(highest, tried[0].spec, objective, plan, held_s, saw=saw)
        # The best point is the last long window in which the highest rate held.
        best = [probe for probe in tried if probe.trial.rate == highest.rate and probe.trial.long]
        best = [probe for probe in best if probe.reply.answer is Answer.HELD]
        spec = (best or tried[:1])[-1].spec
        peak = Peak(
            **key_of(spec),
            objective=str(objective),
            best=None if highest.rate is None else spec.key,
            rate=highest.rate,
            seen=saw,
            knee=knee_facts(bend),
            said=answer,
        )
        at_best = [result for result in results if result.spec.rate == highest.rate]
        table, drawn = rates_table(tried, highest.rate), ["", plot(curve, bend), ""]
        error: SitebenchError | None = None
        if highest.rate is None and highest.limit_known:
            error = ObjectiveMissed(answer, "begin lower with --start, or relax the objective")
        elif highest.rate is None:
            remedy = "use a faster machine for the load generator, or more --users"
            if highest.ceiling is not None and highest.ceiling.reply.answer is Answer.BUSY:
                remedy = "end other programs, and search again with another --out"
            error = MeasurementFailed(answer, remedy)
        # The message of an error replaces the sentence of the answer.
        closing = [] if error else ["", answer]
        return peak, [table, *drawn, WhatToDo(advised_results(at_best, objective)), *closing], error

    def _walk(
        self,
        plan: SearchPlan,
        objective: Objective,
        test_of: Callable[[Trial], Test],
        takes_s: float,
    ) -> tuple[HighestRate, list[Probe]]:
        """Measure the rates of the search; open the target if a rate was not measured yet."""
        going, tried = search(plan), list[Probe]()
        trial = next(going)
        with Runner() as runner, contextlib.ExitStack() as stack:
            target: OpenTarget[Any] | None = None
            ended_s = -math.inf
            while True:
                test = test_of(trial)
                result = self.store.result(test.spec)
                if result is not None:
                    self.reporter.finished(result, resumed=True)
                    reply = _reply(result, objective)
                else:
                    if target is None:
                        opening = open_stage(self.stage, self.store, self.reporter)
                        target = stack.enter_context(opening)
                        self._announce(plan, takes_s)
                    has_held = any(probe.reply.answer is Answer.HELD for probe in tried)
                    self._pause(trial.apart_s - (time.monotonic() - ended_s))
                    result, reply = self._try(test, target, runner, objective, held=has_held)
                    ended_s = time.monotonic()
                tried.append(Probe(trial, test.spec, result, reply))
                try:
                    trial = going.send(reply)
                except StopIteration as end:
                    return end.value, tried

    def _say(self, line: str) -> None:
        if not (self.options.json or self.options.quiet):
            say(line)

    def _announce(self, plan: SearchPlan, takes_s: float) -> None:
        unit, name = (60, "min") if takes_s < 2 * 3_600 else (3_600, "h")
        duration = f"about {math.ceil(takes_s / unit):,} {name}, longer where answers vary"
        self._say(f"searching from {format_rate(plan.start)}/s up: {duration}")

    def _pause(self, seconds: float) -> None:
        if seconds > 0:
            pause = format_duration(math.ceil(seconds))
            self._say(f"a pause of {pause} before the rate is held again")
            time.sleep(seconds)

    def _try(
        self,
        test: Test,
        target: OpenTarget[Any],
        runner: Runner,
        objective: Objective,
        *,
        held: bool,
    ) -> tuple[PointResult | None, Reply]:
        """Measure; if a target that `held` before answers nothing, it is overloaded."""
        try:
            result = measure_point(test, target, runner, self.store, self.reporter)
        except (OutOfPorts, OutOfDescriptors) as error:
            if not held:
                raise
            return None, Reply(Answer.TESTER, 0.0, f"the load generator could not: {error.message}")
        except (Leak, WrongPassword):
            raise
        except SitebenchError as error:
            # The point has no error in the run file, so the load generator itself failed.
            failed = self.store.result(test.spec, "failed") if held else None
            if failed is None:
                raise
            return failed, Reply(Answer.BROKE, 0.0, error.message)
        return result, _reply(result, objective)


def _takes_s(plan: SearchPlan, limit: float, test_of: Callable[[Trial], Test]) -> float:
    """Return how long the search takes with a target that sustains all rates up to `limit`."""
    going, seconds = search(plan), 0.0
    trial = next(going)
    while True:
        spec = test_of(trial).spec
        seconds += trial.apart_s + spec.warmup_s + spec.measure_s
        answer = Answer.HELD if trial.rate <= limit else Answer.BROKE
        try:
            trial = going.send(Reply(answer, trial.rate, ""))
        except StopIteration:
            return seconds


def _reply(result: PointResult, objective: Objective) -> Reply:
    for outcome in objective.judge(result).outcomes:
        if outcome.state is ObjectiveState.UNKNOWN and outcome.condition.metric == "cpu":
            raise BadInput(outcome.message, "leave cpu out of the objective")
    return reply_of(result, objective)
