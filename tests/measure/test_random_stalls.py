"""A stall of a second at any time, edges included: latencies agree with the closed form.

With an even schedule, arrivals during the stall wait until its end. With a
window from `a` to `b`, and a stall from `s` to `g`, the share `q` of the arrivals that waited
longest waited longer than `g - max(s, a) - q (b - a)`.
"""

import random
import time
from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from tests.measure.test_timeouts import BEYOND
from tests.measure.test_window_edge import LANES, RATE, even_lookups, ran_beside
from tests.support.frozen import freeze, served

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

WARMUP_S = 1.5
MEASURE_S = 3.0
STALL_S = 1.0
AFTERWARDS_S = 0.25
"""The time for the 1,000 waiting operations, and other delays on a shared machine."""

_RANDOM = random.Random(1997)
STARTS_S = [
    *(-0.5, 0.0, MEASURE_S - STALL_S, MEASURE_S - STALL_S / 2),
    *(_RANDOM.uniform(-STALL_S, MEASURE_S) for _ in range(16)),
]
"""The begin of the stall, in seconds after the window's begin."""


def stalled(out: Path, pid: int, port: int, start_s: float) -> None:
    """Measure with the directory stopped for a second; check every percentile."""

    def stall(warmup_ns: float) -> tuple[int, int]:
        begins_s = warmup_ns / 1e9 + WARMUP_S
        time.sleep(max(0.0, begins_s + start_s - time.monotonic()))
        return freeze(pid, STALL_S)

    argv = even_lookups(port, LANES, MEASURE_S, WARMUP_S)
    ran, (stopped_ns, goes_on_ns) = ran_beside(stall, out, *argv, phase="warmup")
    found = ran.point
    assert found["failures"] == 0
    length_ns = found["measure_s"] * 1e9
    with RunFile(out) as run:
        (point,) = run.points()
        drains = [row for row in run.timeline(point.id) if row.phase == "measure"]
        (lookup,) = [each for each in run.steps(point.id) if each.step == "lookup"]
    assert lookup.clocks["latency"].count == pytest.approx(found["measure_s"] * RATE, abs=3)
    # A drain without an answer has no row, so the window's length is known at the end without the
    # stall.
    if start_s < MEASURE_S / 2:
        begun_ns = max(row.t_ns for row in drains) - length_ns
    else:
        begun_ns = min(row.t_ns - row.seconds * 1e9 for row in drains)
    # The point's own result has no percentile with fewer than 100 samples beyond it.
    seen = {
        name: lookup.clocks["latency"].percentile(100 * (1 - share)) / 1e3
        for name, share in BEYOND.items()
    }
    for name, share in BEYOND.items():
        waited_ns = goes_on_ns - max(stopped_ns, begun_ns) - share * length_ns
        if stopped_ns >= begun_ns + (1 - share) * length_ns:
            waited_ns = 0.0  # Fewer than this share were due from the stall's begin.
        least_us = max(0.0, waited_ns / 1e3 * 0.99 - 2 / RATE * 1e6)
        most_us = max(0.0, waited_ns / 1e3) * 1.01 + AFTERWARDS_S * 1e6
        print(f"{start_s:.2f} s, {name}: {least_us:,.0f}, {seen[name]:,.0f}, {most_us:,.0f}")
        assert least_us <= seen[name] <= most_us


def test_percentiles_with_a_stall_at_any_time_match_the_closed_form(tmp_path: Path) -> None:
    with served("directory", tmp_path) as (pid, port):
        for n, start_s in enumerate(STARTS_S):
            stalled(tmp_path / f"{n}.sitebench", pid, port, start_s)
