"""The settings of a run: operations, load, window, and the machine of the load generator."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from sitebench.report.model import Report, Run
from sitebench.runs.point import PointSpec
from sitebench.units import format_duration, format_rate, format_size, parse_duration

_FILES = ("accounts", "names", "scenario")
_SETTINGS = ("how", "over", "wrong", "mix", "filter", *_FILES, "base", "bind_dn")
"""Settings that describe an operation."""
_LOGIN = {"how": "bind", "over": "new"}
"""The settings of a login, if its run file does not have them."""


def line(report: Report, run: Run) -> str:
    """Return one line: date, servers, sizes, options, load, window, points, load generator."""
    manifest, specs = run.manifest, [point.spec for point in run.points or run.stored]
    own_build = f"sitebench {manifest.get('versions', {}).get('sitebench', '')}"
    servers = {server.get("version") or "" for server in manifest.get("targets", ())}
    parts = (
        start_date(manifest),
        # The embedded server is left out, as its version is the version of sitebench.
        ", ".join(sorted(servers - {own_build, ""})),
        _sizes(report, specs),
        "; ".join(dict.fromkeys(map(_options, specs))),
        _load(specs),
        _window(run, specs),
        f"{run.count_in_words}{_duration(run)}",
        tester(manifest),
    )
    return " · ".join(filter(None, parts))


def tester(manifest: Mapping[str, Any]) -> str:
    """Return the version of sitebench, and the machine of the load generator."""
    version, cpu = manifest.get("versions", {}).get("sitebench", ""), manifest.get("cpu") or {}
    machine = f" on {cpu.get('model')}, {cpu.get('usable')} cores" if cpu else ""
    return f"sitebench {version}".rstrip() + machine


def start_date(manifest: Mapping[str, Any]) -> str:
    try:
        started = dt.datetime.fromisoformat(str(manifest.get("started")))
    except ValueError:
        return ""
    return f"{started.day} {started:%B %Y, %H:%M} UTC"


def _sizes(report: Report, specs: Sequence[PointSpec]) -> str:
    sizes = sorted({spec.entries for spec in specs if spec.entries})
    if not sizes:
        return ""
    people = report.suite(specs[0].suite).people
    return f"{' to '.join(map(format_size, sizes[:: max(1, len(sizes) - 1)]))} {people}"


def _options(spec: PointSpec) -> str:
    """Return the options of an operation; the path of a file is shown without its folder."""
    settings = spec.settings
    if spec.operation == "login" and "scenario" not in settings:
        settings = {**_LOGIN, **settings}
    texts = {
        name: PurePath(settings[name]).name if name in _FILES else settings[name]
        for name in _SETTINGS
        if name in settings and not (name == "base" and spec.target == "embedded")
    }
    return ", ".join(f"{name.replace('_', '-')} {text}" for name, text in texts.items())


def _load(specs: Sequence[PointSpec]) -> str:
    staged = [spec.stages.name for spec in specs if spec.stages is not None]
    closed = [spec for spec in specs if spec.stages is None and spec.rate is None]
    rates = [(spec.rate, spec.arrivals) for spec in specs if spec.stages is None and spec.rate]
    parts = list(dict.fromkeys(staged))
    if closed:
        pauses_s = sorted({parse_duration(spec.settings.get("think", "0s")) for spec in closed})
        pauses = f"pauses of {_range(pauses_s, format_duration)}" if any(pauses_s) else "no pauses"
        users = _range((spec.users for spec in closed), "{:,}".format)
        parts.append(f"{users} user{'s' if users != '1' else ''} with {pauses}")
    if rates:
        arrivals = " or ".join(sorted({str(name) for _, name in rates}))
        parts.append(f"{_range((r for r, _ in rates), format_rate)}/s with {arrivals} arrivals")
    return "; ".join(parts)


def _range(values: Iterable[float], show: Callable[[float], str]) -> str:
    ends = sorted(set(values))
    return " to ".join(show(end) for end in (ends[0], ends[-1])[: len(ends)])


def _window(run: Run, specs: Sequence[PointSpec]) -> str:
    """Return the actual length of the measured window, and the warm-up before it."""
    seconds = [float(f"{result.seconds:.3g}") for result in run.results]
    if not seconds:
        return ""
    warmups = _range((spec.warmup_s for spec in specs), format_duration)
    return f"measured for {_range(seconds, '{:g}s'.format)} after {warmups} of warm-up"


def _duration(run: Run) -> str:
    periods = [(p.started, p.finished) for p in run.stored]
    lasted_s = [end - start for start, end in periods if start is not None and end is not None]
    return f" in {sum(lasted_s):,.0f}s" if lasted_s else ""
