"""A run's settings: what was measured, how hard, for how long, and on which machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import PurePath

from sitebench.report.model import Run
from sitebench.runs.point import PointSpec
from sitebench.units import format_duration, format_rate, parse_duration

_FILES = ("accounts", "names", "scenario")
_ASKED = ("how", "over", "wrong", "mix", "filter", *_FILES, "base", "bind_dn")
"""Settings that say what an operation was, where it is not the same for all."""
_LOGIN = {"how": "bind", "over": "new"}
"""What a login is where a run file says nothing."""


def html(run: Run) -> str:
    """Return the facts of a run, those that are known."""
    rows = "".join(
        f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>"
        for name, text in _facts(run).items()
        if text
    )
    return f'<dl class="facts">{rows}</dl>'


def _facts(run: Run) -> dict[str, str]:
    manifest, specs = run.manifest, [each.spec for each in run.points or run.stored]
    cpu = manifest.get("cpu") or {}
    machine = f"{cpu.get('model')}, {cpu.get('usable')} cores" if cpu else ""
    return {
        "Target": ", ".join(dict.fromkeys(spec.target for spec in specs)),
        "Options": "; ".join(dict.fromkeys(map(_options, specs))),
        "Users": _range(spec.users for spec in specs),
        "Load model": "; ".join(dict.fromkeys(map(_load, specs))),
        "Window": _window(run, specs),
        "Measured": f"{run.counted}{_lasted(run)}",
        "Machine": ", ".join(filter(None, (machine, str(manifest.get("kernel") or "")))),
        "Started": str(manifest.get("started") or ""),
    }


def _options(spec: PointSpec) -> str:
    """Return what an operation was asked to be; of files the names alone."""
    settings = spec.settings
    if spec.operation == "login" and "scenario" not in settings:
        settings = {**_LOGIN, **settings}
    shown = {
        name: PurePath(settings[name]).name if name in _FILES else settings[name]
        for name in _ASKED
        if name in settings
    }
    return ", ".join(f"{name.replace('_', '-')} {text}" for name, text in shown.items())


def _range(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def _load(spec: PointSpec) -> str:
    """Return when an operation begins: the schedule, in the words of the method."""
    if spec.stages is not None:
        return f"open: {spec.stages.name}, {spec.arrivals} arrivals"
    if spec.rate is not None:
        return f"open: {format_rate(spec.rate)}/s, {spec.arrivals} arrivals"
    think_s = parse_duration(spec.settings.get("think", "0s"))
    pause = (
        f"after a pause of {format_duration(think_s)}" if think_s else "as soon as it is answered"
    )
    return f"closed: each user {pause}"


def _window(run: Run, specs: Sequence[PointSpec]) -> str:
    """Return the measured window, as long as it was, and the warm-up before it."""
    seconds = sorted(result.seconds for result in run.results)
    if not seconds:
        return ""
    short, long = f"{seconds[0]:.3g}s", f"{seconds[-1]:.3g}s"
    measured = short if short == long else f"{short} to {long}"
    warmups = sorted({spec.warmup_s for spec in specs})
    before = " to ".join(
        format_duration(each) for each in (warmups[0], warmups[-1])[: len(warmups)]
    )
    return f"{measured}, after {before} of warm-up"


def _lasted(run: Run) -> str:
    done = [each for each in run.stored if each.started is not None and each.finished is not None]
    seconds = sum((each.finished or 0.0) - (each.started or 0.0) for each in done)
    return f" in {seconds:,.0f}s" if done else ""
