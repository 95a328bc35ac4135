"""`--check`: a user does each operation of a scenario once, and the steps' results are printed.

The engine logs requests and answers, with names in place of secrets.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from sitebench._engine import Engine, StepStats
from sitebench.counts.source import SEQUENCE, START
from sitebench.errors import BadInput, MeasurementFailed, printable
from sitebench.options.option import Options
from sitebench.scenario.script import Operation, Script, alone, is_script
from sitebench.units import format_ns

_OPENS = re.compile(r"(^|: )(connect|bind)$")
"""Rows of steps that open a connection."""
_WAITS = ": wait"
_PARTS = frozenset((SEQUENCE, "connecting", "handshake", "first byte", "request"))
"""Rows that are no steps: whole operations, and phases of web requests."""
_LONGEST = 1_000
_LONG_S = 86_400.0
"""Think time after the operation, so that the user does not begin another."""


_O = TypeVar("_O", bound=Options)
Opening = Callable[[Script, _O], Engine]


def check(
    script: Script, options: _O, opening: Opening[_O], *, timeout_s: float, remedy: str
) -> None:
    if script.adding:
        raise BadInput(
            f"--check adds no people, and {script.path} does",
            "run it for a moment, such as --users 1 --measure 1s: then the people are removed",
        )
    wrong = []
    if any(operation["pauses"] for operation in script.facts["operations"]):
        print(f"{script.path}: pauses are left out")
    if script.writes:
        print(f"{script.path}: --check changes the target, and nothing changes it back")
    for operation in script.operations:
        steps, requests = _once(script, operation, options, opening, timeout_s)
        is_stuck = _has_failed_start(script, steps)
        name = START if is_stuck else operation.name
        print(name)
        for line in _lines(steps, requests):
            print(f"  {line}")
        wrong += [name] * any(step.failures for step in steps)
        if is_stuck:
            break  # No user reaches an operation. Another try might lock an account.
    if wrong:
        expected = f"{script.path} says" if is_script(script.path) else "it has to be"
        raise MeasurementFailed(f"{', '.join(wrong)}: not answered as {expected}", remedy)


def _once(
    script: Script, operation: Operation, options: _O, opening: Opening[_O], timeout_s: float
) -> tuple[list[StepStats], list[dict[str, Any]]]:
    """Return the steps of an operation, including connects, and its requests."""
    one = replace(alone(script, operation).thinking(_LONG_S), pauses=False)
    last, times = one.counts or SEQUENCE, 1
    if one.counts == SEQUENCE:
        # The operation ends only after the long think time, so the check waits for its last step.
        names = [name for name, _ in operation.steps]
        last = names[-1]
        times = names.count(last)
    engine = opening(one, options.assign(users=1, threads=1, rate=None))
    engine.start_lanes(script.name, 1)
    steps: list[StepStats] = []
    log: list[str] = []
    give_up = time.monotonic() + 2 * timeout_s
    while sum(row.count for row in steps if row.step == last) < times:
        if _is_cut_off(steps) or _has_failed_start(script, steps):
            break
        if time.monotonic() > give_up:
            # The steps are not printed: a request interrupted here would count as unanswered.
            engine.stop(0.0)
            raise MeasurementFailed(
                f"{operation.name} did not end within {2 * timeout_s:g} s",
                "give it more time with --timeout",
            )
        time.sleep(0.01)
        drained = engine.drain()
        steps += drained.steps
        log += drained.log
    drained = engine.stop(0.0)
    steps += drained.steps
    log += drained.log
    requests = [request for request in map(json.loads, log) if request["asked"]]
    return [step for step in steps if _is_shown(step)], requests


def _is_shown(step: StepStats) -> bool:
    """Return whether a row is shown: a row of a step, or a failed wait for a shared connection."""
    waited = step.step.endswith(_WAITS) and not step.failures
    return step.step not in _PARTS and step.count > 0 and not waited


def _is_cut_off(steps: list[StepStats]) -> bool:
    """Return whether the user could not connect, and therefore retries."""
    return any(step.failures for step in steps if _OPENS.search(step.step))


def _has_failed_start(script: Script, steps: list[StepStats]) -> bool:
    begins = bool(script.start["steps"])
    return begins and any(step.failures for step in steps if step.program == START)


def _lines(steps: list[StepStats], requests: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each connect, then for each request, then for each other step."""
    requested = {(request["operation"], request["step"]) for request in requests}
    rest = [step for step in steps if (step.program, step.step) not in requested]
    first = [step for step in rest if _OPENS.search(step.step)]
    yield from map(_line, first)
    yield from map(_request, requests)
    yield from (_line(step) for step in rest if step not in first)


def _request(request: dict[str, Any]) -> str:
    """Write a request with its time, its answer and its captures."""
    kind = request["kind"]
    took = format_ns(round(request["ms"] * 1e6)) if kind is None else f"failed, {kind}:"
    sent = f"{request['asked']} {request['rest']}".rstrip()
    answer = f": {request['said']}" if request["said"] else ""
    captures = "".join(
        f"; {name} captured" if value is None else f"; {name} = {value!r}"
        for name, value in request["captured"].items()
    )
    return f"{request['step']:<20} {took} {printable(sent + answer + captures, _LONGEST)}"


def _line(step: StepStats) -> str:
    took = step.clocks["service"]
    if not step.failures:
        return f"{step.step:<20} {format_ns(took.max)}"
    failures = "; ".join(f"{kind}: {step.examples.get(kind, '')}" for kind in step.failures)
    return f"{step.step:<20} failed, {failures.rstrip(': ')}"
