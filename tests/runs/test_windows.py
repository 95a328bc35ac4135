"""Phases of a test: what is measured when users come and go while it runs."""

from pathlib import Path

from sitebench.monitor import Monitor
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.runs.windows import Phase, PointFile, Windows
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec

SECOND = 1_000_000_000


def lookups(n: int, at_s: int, lanes: int) -> Drain:
    step = Step("lookup", "lookup", n, service=histogram(*[50_000] * n))
    return Drain((at_s - 1) * SECOND, at_s * SECOND, (step,), lanes)


def test_a_window_that_begins_anew_makes_ramp_of_what_was_before(tmp_path: Path) -> None:
    spec = a_spec(users=2)
    with RunStore(tmp_path / "run") as store:
        store.begin(spec)
        point = store.point_id(spec.key)
        monitor = Monitor(None)
        windows = Windows(monitor, PointFile(store, point))
        windows.absorb(lookups(1, 1, 2))
        windows.cross(lookups(10, 2, 2), Phase.MEASURE)
        windows.absorb(lookups(100, 3, 2))
        windows.cross(lookups(1_000, 4, 5), Phase.MEASURE)
        windows.absorb(lookups(2_000, 5, 5))
        windows.cross(lookups(3_000, 6, 5), Phase.AFTER)
        windows.absorb(lookups(4_000, 7, 0))
        assert windows.measured is not None
        assert windows.measured.seconds == 2.0
        now = a_spec(users=5)
        store.respecify(spec, now)
        windows.complete(a_result())
        store.confirm(now)
        monitor.close()
    with RunFile(tmp_path / "run") as run:
        (kept,) = run.points()
        assert (kept.spec, kept.status) == (now, "done")
        counts: dict[str, int] = {}
        for row in run.timeline(kept.id):
            counts[row.phase] = counts.get(row.phase, 0) + row.count
        assert counts == {"ramp": 1_111, "measure": 5_000, "after": 4_000}
        for phase, count in counts.items():
            (step,) = run.histograms(kept.id, phase)
            assert step.count == count == step.latency.count


def test_observers_get_each_drain_in_the_phase_that_it_belongs_to() -> None:
    phases, samples = [], []
    monitor = Monitor(None)
    windows = Windows(
        monitor,
        on_drain=lambda phase, _: phases.append(phase),
        on_sample=lambda _, sample: samples.append(sample),
    )
    windows.absorb(lookups(1, 1, 2))
    windows.cross(lookups(1, 2, 2), Phase.MEASURE)
    windows.absorb(lookups(1, 3, 2))
    monitor.close()
    assert phases == ["ramp", "ramp", "measure"]
    assert len(samples) >= 2
