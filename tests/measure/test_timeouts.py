"""Timeouts of 0.5 % and 2 % at any time, edges included: all figures agree with the closed form.

Of `n` operations due in the window, `k` are never answered. They took at least the timeout, and
all others almost no time. So a percentile with fewer than `k` operations beyond it is the timeout
and a lower bound; any lower one is neither, and the mean is `k / n` of the timeout.
"""

import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sitebench.counts.durations import with_censored
from sitebench.measure.objective import Objective, ObjectiveState
from sitebench.runs.runfile import RunFile
from tests.measure.test_window_edge import RATE, began_ns, even_lookups, ran_beside
from tests.support.frozen import served
from tests.support.relay import relayed
from tests.support.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

WARMUP_S = 1.5
MEASURE_S = 11.0
"""Long enough that p99 has 100 operations beyond it."""

TIMEOUT_S = 0.4
LANES = 400
"""Enough for the operations that wait for a lost block of 2 %, and for all others."""

LATE_S = 0.2
"""Other delays of an answer on a shared machine."""

NEAR = 3
"""Arrivals this close to an edge may be on either side of it."""

BEYOND = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99_9": 0.001, "max": 0.0}
"""The checked percentiles, by the share of the operations that took longer."""

Lost = Callable[[float], bool]
"""Whether a request this many seconds after the window's begin is lost."""


def scattered(share: float, seed: int) -> Lost:
    """Lose each request with this probability."""
    lot = random.Random(seed)
    return lambda _: lot.random() < share


def block(share: float, start_s: float) -> Lost:
    """Lose the same share in one block."""
    return lambda s: start_s <= s < start_s + share * MEASURE_S


def cases() -> dict[str, Lost]:
    """Return 20 ways to lose 0.5 % and 2 %."""
    lot = random.Random(1997)
    found: dict[str, Lost] = {}
    for share in (0.005, 0.02):
        length_s = share * MEASURE_S
        # A window ends up to a twentieth of a second later than requested.
        edges_s = (-0.5 * length_s, 0.0, MEASURE_S - length_s, MEASURE_S)
        starts_s = [*edges_s, *(lot.uniform(0.0, MEASURE_S) for _ in range(2))]
        found |= {f"{share:.1%} from {each:.2f} s": block(share, each) for each in starts_s}
        found |= {f"{share:.1%} scattered, {n}": scattered(share, n) for n in range(4)}
    return found


CASES = cases()


class Losing:
    """A relay that loses some entries, and records the time of each request."""

    def __init__(self, lost: Lost) -> None:
        self.lost = lost
        self.asked: list[tuple[int, bool]] = []
        """When, and whether it was lost."""
        self.begins_ns: float | None = None
        """When the window will begin; None until that is known."""

    def __call__(self, piece: bytes, client: socket.socket) -> None:
        is_entry = len(piece) > 100  # Else the answer to a bind.
        if is_entry and self.begins_ns is not None:
            now_ns = time.monotonic_ns()
            lost = self.lost((now_ns - self.begins_ns) / 1e9)
            self.asked.append((now_ns, lost))
            if lost:
                return
        client.sendall(piece)

    def lost_between(self, start_ns: float, end_ns: float) -> int:
        """Return the number of lost requests that were due in an interval."""
        gap_ns = 1e9 / RATE
        asked = sorted(self.asked)
        # Arrivals are evenly spaced, and none is sent before it is due.
        first_ns = min(at_ns - n * gap_ns for n, (at_ns, _) in enumerate(asked))
        due = ((first_ns + n * gap_ns, lost) for n, (_, lost) in enumerate(asked))
        return sum(lost for due_ns, lost in due if start_ns <= due_ns < end_ns)


def measure(out: Path, port: int, way: Losing) -> None:
    def place(warmup_ns: float) -> None:
        way.begins_ns = warmup_ns + WARMUP_S * 1e9
        assert eventually(lambda: began_ns(out) is not None)
        way.begins_ns = began_ns(out)

    argv = (*even_lookups(port, LANES, MEASURE_S, WARMUP_S), "--timeout", f"{TIMEOUT_S}s")
    ran, _ = ran_beside(place, out, *argv, "--allow-failures", phase="warmup")
    ran.check(0)


@pytest.mark.parametrize("name", CASES)
def test_figures_with_timeouts_match_the_closed_form(name: str, tmp_path: Path) -> None:
    out, way = tmp_path / "run.sitebench", Losing(CASES[name])
    with served("directory", tmp_path) as (_, server), relayed(server, way) as port:
        measure(out, port, way)
    with RunFile(out) as run:
        (result,), (point,) = run.results(), run.points()
        (lookup,) = [each for each in run.steps(point.id) if each.step == "lookup"]
        drains = [row for row in run.timeline(point.id) if row.phase == "measure"]
    start_ns = min(row.t_ns - row.seconds * 1e9 for row in drains)
    n, k = result.clocks["latency"].n, way.lost_between(start_ns, start_ns + result.seconds * 1e9)
    assert n == pytest.approx(result.seconds * RATE, abs=NEAR)
    assert result.clocks["censored"].n == pytest.approx(k, abs=NEAR)
    # The point's own result has no percentile with fewer than 100 samples beyond it.
    of_all = with_censored(lookup.clocks["latency"], lookup.clocks["censored"])
    latency = {each: of_all.percentile(100 * (1 - share)) / 1e9 for each, share in BEYOND.items()}
    for each, share in BEYOND.items():
        if share * n - NEAR <= k <= share * n + NEAR and k:
            continue  # at the border between answered and lost
        never_came = k > share * n
        least_s, most_s = (TIMEOUT_S, TIMEOUT_S + LATE_S) if never_came else (0.0, LATE_S)
        assert least_s * 0.999 <= latency[each] <= most_s
        printed_us = getattr(result.clocks["latency"], each)
        assert (printed_us is None) == (each == "p99_9")
        if printed_us is not None:
            assert printed_us / 1e6 == pytest.approx(latency[each], rel=1e-9)
            assert (each in result.clocks["latency"].at_least) == never_came
            asked = Objective.parse(f"{each}<{LATE_S}s").judge(result).state
            assert asked == (ObjectiveState.BROKEN if never_came else ObjectiveState.MET)
    mean_s = (result.clocks["latency"].mean or 0.0) / 1e6
    assert k / n * TIMEOUT_S * 0.97 <= mean_s <= k / n * TIMEOUT_S + LATE_S / 10
