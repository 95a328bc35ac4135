"""Tracks of the monitor's samples: perfmon's of 1997, and what newer systems report."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import msgspec

from sitebench.report.charts import short
from sitebench.report.model import Track

_MOST = 120
"""Values of a track: more than a screen has room for."""

_Tracks = Mapping[tuple[str, str], Track]
_Drawn = dict[str, Track]
"""Values over time by the name of the line."""


class Strip(msgspec.Struct, frozen=True):
    """One track of resources: its title and axis, and how to take it from the samples."""

    id: str
    title: str
    format: str
    take: Callable[[_Tracks], _Drawn]
    most: float | None = None

    def clip(self, value: float) -> float | None:
        """Return a value as it is drawn: of two clocks, a share can be a little over all."""
        return short(value if self.most is None else min(value, self.most), 3)


def _one(called: str, source: str, track: str) -> Callable[[_Tracks], _Drawn]:
    return lambda tracks: {called: tracks[source, track]} if (source, track) in tracks else {}


def _by_stem(stem: str, source: str = "machine", title: str = "{}") -> Callable[[_Tracks], _Drawn]:
    """Take every track of a stem: `core_busy_s.0`, `core_busy_s.1`, ..."""

    def take(tracks: _Tracks) -> _Drawn:
        start = f"{stem}."
        names = [w for (owner, w) in tracks if owner == source and w.startswith(start)]
        return {title.format(w.removeprefix(start)): tracks[source, w] for w in names}

    return take


def _sum(called: str, stem: str, source: str = "machine") -> Callable[[_Tracks], _Drawn]:
    """Add up every track of a stem."""

    def take(tracks: _Tracks) -> _Drawn:
        totals: dict[int, float] = {}
        for track in _by_stem(stem, source)(tracks).values():
            for t_ns, value in track:
                totals[t_ns] = totals.get(t_ns, 0.0) + value
        return {called: sorted(totals.items())} if totals else {}

    return take


def _all(*takers: Callable[[_Tracks], _Drawn]) -> Callable[[_Tracks], _Drawn]:
    def take(tracks: _Tracks) -> _Drawn:
        drawn: _Drawn = {}
        for taker in takers:
            drawn |= taker(tracks)
        return drawn

    return take


_CORES_SHOWN = 8


def _cores(tracks: _Tracks) -> _Drawn:
    """Take every core; of many, the busiest and the idlest at each instant, and their mean."""
    cores = _by_stem("core_busy_s", title="core {}")(tracks)
    if len(cores) <= _CORES_SHOWN:
        return cores
    by_instant: dict[int, list[float]] = {}
    for track in cores.values():
        for t_ns, value in track:
            by_instant.setdefault(t_ns, []).append(value)
    moments = sorted(by_instant.items())
    return {
        "busiest core": [(t, max(values)) for t, values in moments],
        f"mean of {len(cores)} cores": [(t, statistics.fmean(values)) for t, values in moments],
        "idlest core": [(t, min(values)) for t, values in moments],
    }


STRIPS = (
    Strip(
        "cpu",
        "CPU, cores",
        "~r",
        _all(_one("target", "target", "cpu_s"), _one("generator", "generator", "cpu_s")),
    ),
    Strip("cores", "each core", "~%", _cores, 1.0),
    Strip(
        "queue",
        "run queue",
        "~r",
        _all(
            _one("runnable tasks", "machine", "runnable"),
            _one("blocked on disk", "machine", "blocked"),
        ),
    ),
    Strip("pressure", "pressure", "~%", _by_stem("pressure_s")),
    Strip(
        "disk",
        "disks, B/s",
        "~s",
        _all(_sum("read", "disk_read_bytes"), _sum("written", "disk_written_bytes")),
    ),
    Strip("busy", "disk busy", "~%", _by_stem("disk_busy_s"), 1.0),
    Strip(
        "network",
        "network, B/s",
        "~s",
        _all(_sum("received", "interface_in_bytes"), _sum("sent", "interface_out_bytes")),
    ),
    Strip(
        "memory",
        "resident, B",
        "~s",
        _all(
            _one("target", "target", "resident_bytes"),
            _one("generator", "generator", "resident_bytes"),
        ),
    ),
    Strip("available", "available, B", "~s", _one("machine", "machine", "available_bytes")),
)
"""From what the papers monitored to what only newer systems report, top to bottom."""


def thin(track: Track, limit: int = _MOST) -> Track:
    """Return at most `limit` values: means of as many neighbours each."""
    width = -(-len(track) // limit)
    if width <= 1:
        return track
    parts = [track[n : n + width] for n in range(0, len(track), width)]
    return [
        (part[len(part) // 2][0], statistics.fmean(value for _, value in part)) for part in parts
    ]
