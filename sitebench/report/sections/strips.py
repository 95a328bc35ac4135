"""Tracks of the monitor's samples, in the order of the papers' perfmon counters."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import msgspec

from sitebench.report.charts import short
from sitebench.report.model import Track

_MOST = 120
"""Most values of a track, for the width of a screen."""

_Tracks = Mapping[tuple[str, str], Track]
_Drawn = dict[str, Track]


class Strip(msgspec.Struct, frozen=True):
    """One drawing of resources: its title and axis, and how to take its tracks from samples."""

    id: str
    title: str
    format: str
    take: Callable[[_Tracks], _Drawn]
    most: float | None = None

    def clip(self, value: float) -> float | None:
        """Return a value, at most `most`: an error of clocks may make a share exceed it."""
        return short(value if self.most is None else min(value, self.most), 3)


def _processes(track: str) -> Callable[[_Tracks], _Drawn]:
    """Take a track of target and load generator."""
    sources = ("target", "generator")
    return lambda tracks: {s: tracks[s, track] for s in sources if (s, track) in tracks}


def _machine(**called: str) -> Callable[[_Tracks], _Drawn]:
    """Take tracks of the machine; `called` maps each track to a line's name."""
    return lambda tracks: {
        name.replace("_", " "): tracks["machine", track]
        for name, track in called.items()
        if ("machine", track) in tracks
    }


def _by_stem(stem: str, title: str = "{}") -> Callable[[_Tracks], _Drawn]:
    """Take every track of the machine with a stem: `core_busy_s.0`, `core_busy_s.1`, ..."""

    def take(tracks: _Tracks) -> _Drawn:
        names = [n for (owner, n) in tracks if owner == "machine" and n.startswith(f"{stem}.")]
        return {title.format(n.removeprefix(f"{stem}.")): tracks["machine", n] for n in names}

    return take


def _sums(**stems: str) -> Callable[[_Tracks], _Drawn]:
    """Add up all tracks of each stem; `stems` maps the name of a line to a stem."""

    def take(tracks: _Tracks) -> _Drawn:
        drawn: _Drawn = {}
        for name, stem in stems.items():
            totals: dict[int, float] = {}
            for track in _by_stem(stem)(tracks).values():
                for t_ns, value in track:
                    totals[t_ns] = totals.get(t_ns, 0.0) + value
            if totals:
                drawn[name] = sorted(totals.items())
        return drawn

    return take


_CORES_SHOWN = 8


def _cores(tracks: _Tracks) -> _Drawn:
    """Take every core; if there are many, the busiest, the mean and the idlest at each instant."""
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
    Strip("cpu", "CPU, cores", "~r", _processes("cpu_s")),
    Strip("cores", "each core", "~%", _cores, 1.0),
    Strip(
        "queue", "run queue", "~r", _machine(runnable_tasks="runnable", blocked_on_disk="blocked")
    ),
    Strip("pressure", "pressure", "~%", _by_stem("pressure_s")),
    Strip("disk", "disks, B/s", "~s", _sums(read="disk_read_bytes", written="disk_written_bytes")),
    Strip("busy", "disk busy", "~%", _by_stem("disk_busy_s"), 1.0),
    Strip(
        "network",
        "network, B/s",
        "~s",
        _sums(received="interface_in_bytes", sent="interface_out_bytes"),
    ),
    Strip("memory", "resident, B", "~s", _processes("resident_bytes")),
    Strip("available", "available, B", "~s", _machine(machine="available_bytes")),
)
"""Drawings from top to bottom: first the papers' counters, then counters of newer systems."""


def thin(track: Track, limit: int = _MOST) -> Track:
    """Return at most `limit` values, means of equal numbers of neighbours."""
    width = -(-len(track) // limit)
    if width <= 1:
        return track
    parts = [track[n : n + width] for n in range(0, len(track), width)]
    return [
        (part[len(part) // 2][0], statistics.fmean(value for _, value in part)) for part in parts
    ]
