"""The results of a long run in its run file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

from benches.soak.account import Counted, Line, account
from benches.soak.mix import STEPS
from benches.soak.trend import PARTS, Figure, Part, Trend, judge
from ils_bench import sequences
from sitebench._engine import Histogram
from sitebench.runs.runfile import RunFile, TimelineRow
from sitebench.runs.windows import Phase

LOOKUP = (sequences.LOOKUP.name, sequences.LOOKUP.counts)
DIRECTORY = "directory"
ENTRIES = (DIRECTORY, "entries")
COUNTERS = "soak"
"""The manifest's key for the directory's counters `before` and `after` the load."""
CPU, RESIDENT = "cpu_s", "resident_bytes"
TARGET, TESTER = "target", "generator"
ENTRY_BYTES = 750
"""Memory of a registered person.

91.5 MB with 100,000 people, and 111.2 MB after a peak of 26,500 more.
"""

LOOKS = 100
"""The number of readings of a gauge over the window and over each of its parts."""


@dataclass(frozen=True)
class Course:
    """A counter over time, as in the run file: unchanged readings are omitted."""

    at_ns: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def held(self, t_ns: float) -> float:
        """Return a gauge's value at an instant: the last reading."""
        return self.values[max(bisect_right(self.at_ns, t_ns) - 1, 0)]

    def between(self, begin_ns: float, end_ns: float) -> float:
        """Return the growth of a count, interpolated evenly between readings."""
        return self._grown(end_ns) - self._grown(begin_ns)

    def _grown(self, t_ns: float) -> float:
        after = bisect_right(self.at_ns, t_ns)
        if after in (0, len(self.at_ns)):
            return self.values[max(after - 1, 0)]
        (t0, t1), (v0, v1) = self.at_ns[after - 1 : after + 1], self.values[after - 1 : after + 1]
        return v0 + (v1 - v0) * (t_ns - t0) / (t1 - t0)

    def most(self, t_ns: float) -> float:
        """Return a gauge's highest value up to an instant."""
        return max(self.values[: max(bisect_right(self.at_ns, t_ns), 1)])

    def mean(self, begin_ns: float, end_ns: float) -> float:
        """Return a gauge's mean over an interval."""
        return mean(self.held(t_ns) for t_ns in _instants(begin_ns, end_ns))


def _instants(begin_ns: float, end_ns: float) -> list[float]:
    return [begin_ns + (end_ns - begin_ns) * n / LOOKS for n in range(LOOKS + 1)]


@dataclass(frozen=True)
class Soaked:
    """The lanes' counts over the whole run, and the parts of its measured window."""

    counted: Sequence[Counted]
    account: Sequence[Line]
    """Empty if the directory ended before its counters could be read."""
    parts: Sequence[Part]
    directory: Trend
    """The directory's memory without the growth that additional concurrent entries explain."""
    tester: Trend
    """The load generator's memory."""

    @property
    def figures(self) -> list[Figure]:
        return judge(self.parts, self.directory, self.tester)

    @property
    def failures(self) -> int:
        return sum(each.failures for each in self.counted)


def read(file: RunFile, point: int) -> Soaked | None:
    """Return the results of a point; None if its measured window has not begun."""
    counted, drains, lookups = [], [], []
    for program, steps in STEPS.items():
        for step in steps:
            rows = file.timeline(point, [(program, step)])
            count, failures = sum(row.count for row in rows), sum(row.failures for row in rows)
            counted.append(Counted(program, step, count, failures))
            measured = [row for row in rows if row.phase == Phase.MEASURE]
            drains += [(row.t_ns, row.count - row.failures) for row in measured]
            if (program, step) == LOOKUP:
                lookups = measured
    if len(lookups) < PARTS:
        return None
    bounds = _bounds(lookups)
    courses = _courses(file, point)
    parts = [_part(begin, end, courses, drains, lookups) for begin, end in pairwise(bounds)]
    # The first part is left out, because totals of a window are allocated as it begins.
    instants = _instants(bounds[1], bounds[-1])
    at_s = [t_ns / 1e9 for t_ns in instants]
    resident, entries = courses[TARGET, RESIDENT], courses[ENTRIES]
    level = entries.most(instants[0])
    directory = [
        resident.held(t_ns) - ENTRY_BYTES * (entries.most(t_ns) - level) for t_ns in instants
    ]
    tester = [courses[TESTER, RESIDENT].held(t_ns) for t_ns in instants]
    counters = file.manifest().get(COUNTERS, {})
    lines = account(counted, **counters) if len(counters) == 2 else []
    return Soaked(counted, lines, parts, Trend(at_s, directory), Trend(at_s, tester))


def _bounds(measured: Sequence[TimelineRow]) -> list[float]:
    begin = measured[0].t_ns - measured[0].seconds * 1e9
    length = measured[-1].t_ns - begin
    return [begin + length * n / PARTS for n in range(PARTS)] + [measured[-1].t_ns]


def _courses(file: RunFile, point: int) -> dict[tuple[str, str], Course]:
    wanted = {(who, what) for who in (TARGET, TESTER) for what in (CPU, RESIDENT)} | {ENTRIES}
    courses = {key: Course() for key in wanted}
    for row in file.samples(point):
        if course := courses.get((row.who, row.what)):
            course.at_ns.append(row.t_ns)
            course.values.append(row.value)
    return courses


def _part(
    begin_ns: float,
    end_ns: float,
    courses: Mapping[tuple[str, str], Course],
    drains: Iterable[tuple[int, int]],
    lookups: Iterable[TimelineRow],
) -> Part:
    latency = Histogram()
    for row in lookups:
        if begin_ns < row.t_ns <= end_ns:
            latency.add(Histogram.from_bytes(row.latency))
    return Part(
        seconds=(end_ns - begin_ns) / 1e9,
        operations=sum(count for t_ns, count in drains if begin_ns < t_ns <= end_ns),
        target_cpu_s=courses[TARGET, CPU].between(begin_ns, end_ns),
        tester_cpu_s=courses[TESTER, CPU].between(begin_ns, end_ns),
        target_bytes=courses[TARGET, RESIDENT].mean(begin_ns, end_ns),
        entries=courses[ENTRIES].mean(begin_ns, end_ns),
        p50_s=latency.percentile(50) / 1e9,
        p99_s=latency.percentile(99) / 1e9,
    )
