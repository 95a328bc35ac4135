"""What `peak` of both halves does: measure loads one after the other, and say where the limit is.

Two ways. Given client counts are a sweep like any other, as in the papers. To an objective, the
search of `peak.py` says what to measure next; its points are ordinary points of the run file, so
that the same command over the same file asks for them again, finds them, and goes on.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from sitebench.measure.command import Recording, Report, Seeding, recording, say, show
from sitebench.measure.objective import RATES, Objective, State
from sitebench.measure.options import DEFAULT_CLIENTS, DEFAULT_USERS, PeakOptions
from sitebench.measure.peak.curve import knee, plot, spots
from sitebench.measure.peak.search import (
    Answer,
    Found,
    Plan,
    Reply,
    Trial,
    reply_of,
    rounded,
    search,
)
from sitebench.measure.peak.tables import (
    Peak,
    clients_peak,
    clients_table,
    rates_peak,
    rates_table,
    said_of_rates,
    usl_lines,
)
from sitebench.measure.peak.usl import check_reach, fit
from sitebench.measure.progress import JsonLines, Live
from sitebench.measure.sweep import Endpoint, Stage, measure_point, opened, repeated, sweep
from sitebench.runs.manifest import collect, continued
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import series
from sitebench.system.limits import most_connections
from sitebench.tables.bottlenecks import warnings
from sitebench.tables.tables import footnotes, point_name

MOST_USERS = 1024
"""Lanes beyond which the search adds none: a thread each takes, and the report says so."""

HOLD_WINDOWS = 3
"""A rate is held for this many times the measured window, unless `--hold` says."""

ROOM = 1.1
"""More samples than a percentile needs, for those that a window cuts off."""


@dataclass(frozen=True)
class Load:
    """One load to measure: everything that differs between the points of a search."""

    users: int
    rate: float | None
    measure: float


@dataclass(frozen=True)
class Job:
    """What a half knows of the operation whose peak is looked for."""

    stage: Callable[[Seeding], Stage]
    point: Callable[[Load], PointSpec]
    facts: Callable[[], Mapping[str, Any]]
    window_s: float
    default_out: str
    afterwards: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Asked:
    """One call of `peak` under way."""

    options: PeakOptions
    job: Job
    stage: Stage
    run: Recording


@dataclass(frozen=True)
class Answered:
    """What is kept, what is shown, and what the exit code should say where there is no peak."""

    peak: Peak
    report: Report
    error: SitebenchError | None = None


def check_options(options: PeakOptions) -> None:
    """Refuse what contradicts itself, before anything is opened."""
    if options.rate is not None:
        raise BadInput(
            "peak chooses the rates itself and --rate fixes one",
            "use `run --rate`, or --objective with --start for where the search begins",
        )
    if options.objective is None:
        _check_clients(options)
    else:
        _check_search(options, options.objective)


def _check_clients(options: PeakOptions) -> None:
    given = {
        "--users": options.users,
        "--start": options.start,
        "--precision": options.precision,
        "--hold": options.hold,
        "--holds": options.holds,
    }
    for name, value in given.items():
        if value:
            raise BadInput(
                f"{name} is for the search to an objective and there is none",
                "add --objective such as 'p99<5ms,failures<0.1%', or use --clients",
            )
    for clients in options.foresee:
        check_reach(clients, max(options.clients or DEFAULT_CLIENTS))


def _check_search(options: PeakOptions, objective: Objective) -> None:
    if options.clients:
        raise BadInput(
            "--clients measures given loads and --objective searches for one", "leave one out"
        )
    if options.foresee:
        raise BadInput(
            "--foresee needs a curve over clients and --objective makes one over rates",
            "use it with --clients",
        )
    if options.repeats > 1:
        raise BadInput("a search repeats what it finds by itself", "use --holds for how often")
    for metric in RATES:
        if objective.about(metric):
            raise BadInput(
                f"the search finds the rate and {metric} in the objective asks for one",
                "ask for latencies, failures or cpu only",
            )


def find_peak(options: PeakOptions, job: Job) -> None:
    """Measure, show the curve, and keep and print the answer."""
    check_options(options)
    reporter = JsonLines() if options.json else Live(point_name)
    clients = tuple(dict.fromkeys(options.clients or DEFAULT_CLIENTS))
    most = most_connections(options.users or DEFAULT_USERS, MOST_USERS)
    users = max(clients) if options.objective is None else most
    with (
        recording(options, reporter, users, job.default_out) as run,
        contextlib.ExitStack() as last,
    ):
        last.callback(job.afterwards)
        stage = job.stage(reporter.seeding)
        run.store.set_manifest(continued(run.store.manifest(), collect(sys.argv[1:], job.facts())))
        asked = Asked(options, job, stage, run)
        if options.objective is None:
            answer = _over_clients(asked, clients)
        else:
            answer = _to_objective(asked, options.objective, most)
        remember(run, answer.peak)
    if options.json:
        print(json.dumps({"peak": answer.peak.to_json()}), flush=True)
    else:
        show(answer.report)
        say(f"run file: {run.store.path}")
    if answer.error is not None:
        raise answer.error


def remember(run: Recording, peak: Peak) -> None:
    """Keep an answer in the manifest, instead of an earlier one to the same question."""
    known = run.store.manifest().get("peaks", [])
    asked = peak.question()
    others = [each for each in known if {name: each.get(name) for name in asked} != asked]
    run.store.set_manifest({"peaks": [*others, peak.to_json()]})


def _over_clients(asked: Asked, clients: Sequence[int]) -> Answered:
    job, options = asked.job, asked.options
    points = [job.point(Load(users, None, job.window_s)) for users in clients]
    stages = repeated([replace(asked.stage, points=points)], options.repeats)
    results = sweep(stages, asked.run.store, asked.run.reporter)
    curve = spots(results, lambda spec: spec.users)
    bend = knee(curve)
    law = fit([(int(spot.load), spot.rate) for spot in curve if spot.valid])
    peak = clients_peak(series(results), bend, law)
    table = clients_table(series(results), bend, peak.best)
    drawn = plot(curve, bend)
    notes = [drawn, "", *usl_lines(law, options.foresee), *footnotes(results), *warnings(results)]
    return Answered(peak, Report([table], [*notes, "", peak.said]))


@dataclass(frozen=True)
class Tried:
    """One step of a search, and what came of it; no result where nothing succeeded."""

    trial: Trial
    spec: PointSpec
    result: PointResult | None
    reply: Reply


def _to_objective(asked: Asked, objective: Objective, most: int) -> Answered:
    options, window = asked.options, asked.job.window_s
    needed = objective.samples() * ROOM
    plan = Plan(
        start=options.start or rounded(max(100.0, needed / window)),
        users=options.users or DEFAULT_USERS,
        most_users=most,
        precision=(options.precision or 5.0) / 100.0,
        holds=options.holds or 3,
    )
    hold = options.hold or HOLD_WINDOWS * window

    def spec_of(trial: Trial) -> PointSpec:
        seconds = max(hold if trial.long else window, needed / trial.rate)
        load = Load(trial.users, trial.rate, round(seconds, 3))
        return replace(asked.job.point(load), repeat=trial.repeat)

    found, tried = _walk(plan, objective, asked, spec_of)
    results = [each.result for each in tried if each.result is not None]
    curve = spots(results, lambda spec: spec.rate or 0.0)
    bend = knee(curve)
    table = rates_table([(t.spec, t.result, t.reply) for t in tried], found.rate)
    said = said_of_rates(found, tried[0].spec, objective, plan, hold)
    peak = rates_peak(found, objective, _best(found, tried) or tried[0].spec, bend, said)
    held = [r for r in results if r.spec.rate == found.rate]
    report = Report([table], [plot(curve, bend), "", *warnings(held), "", said])
    return Answered(peak, report, _error(found, said))


def _best(found: Found, tried: Sequence[Tried]) -> PointSpec | None:
    """Return the last hold of the rate that was found."""
    held = [
        each.spec
        for each in tried
        if each.trial.rate == found.rate and each.trial.long and each.reply.answer is Answer.HELD
    ]
    return held[-1] if held else None


def _error(found: Found, said: str) -> SitebenchError | None:
    """Return what the exit code should say: that nothing holds, or that nothing is known."""
    if found.rate is not None:
        return None
    if found.tester_bound:
        return MeasurementFailed(said, "use a faster machine for the tester, or more --users")
    return ObjectiveMissed(said, "begin lower with --start, or ask for less")


def _walk(
    plan: Plan, objective: Objective, asked: Asked, spec_of: Callable[[Trial], PointSpec]
) -> tuple[Found, list[Tried]]:
    """Ask the search what to measure until it knows; the target is opened when first needed."""
    going, tried, run = search(plan), list[Tried](), asked.run
    trial = next(going)
    with contextlib.ExitStack() as stack:
        endpoints: list[Endpoint] = []
        while True:
            spec = spec_of(trial)
            result = run.store.result(spec)
            if result is not None:
                run.reporter.finished(result, resumed=True)
                reply = _reply(result, objective)
            else:
                if not endpoints:
                    target = opened(asked.stage, run.store, run.reporter)
                    endpoints.append(stack.enter_context(target))
                held = any(each.reply.answer is Answer.HELD for each in tried)
                result, reply = _try(spec, endpoints[0], objective, run, held=held)
            tried.append(Tried(trial, spec, result, reply))
            try:
                trial = going.send(reply)
            except StopIteration as end:
                return end.value, tried


def _try(
    spec: PointSpec, endpoint: Endpoint, objective: Objective, run: Recording, *, held: bool
) -> tuple[PointResult | None, Reply]:
    """Measure; a target that held before and now answers nobody has been pushed too far."""
    try:
        result = measure_point(spec, endpoint, run.store, run.reporter)
    except (OutOfPorts, OutOfDescriptors) as error:
        if not held:
            raise
        return None, Reply(Answer.TESTER, 0.0, f"the tester could not: {error.message}")
    except (Leak, WrongPassword):
        raise
    except SitebenchError as error:
        # Its process reported, so it was not the tester that failed; and the target lives.
        failed = run.store.result(spec, "failed") if held else None
        if failed is None:
            raise
        return failed, Reply(Answer.BROKE, 0.0, error.message)
    return result, _reply(result, objective)


def _reply(result: PointResult, objective: Objective) -> Reply:
    for outcome in objective.judge(result).outcomes:
        if outcome.state is State.UNKNOWN and outcome.condition.startswith("cpu"):
            raise BadInput(outcome.said, "leave cpu out of the objective")
    return reply_of(result, objective)
