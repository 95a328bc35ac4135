"""A run file to export, with every table filled."""

from pathlib import Path

import pytest

from sitebench.monitor.monitor import Monitor
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_spec
from tests.support.runs import finish


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a run file with a finished, a failed and a planned point."""
    path = tmp_path / "run.sitebench"
    with RunStore(path) as store:
        store.set_manifest({"target": "embedded", "sizes": [1_000], "scenario": None})
        finish(store)
        done = store.point_id(a_spec().key)
        for n in range(1, 4):
            clock = histogram(*[50_000 * n] * n, 900_719_925_474)
            steps = tuple(
                Step("lookup", name, n, {"timeout": n}, service=clock)
                for name in ("lookup", "bind, simple")
            )
            store.append(done, "measure", Drain(n * 10**9, (n + 1) * 10**9, steps))
        store.append_sample(done, 2 * 10**9, Monitor(None).sample().rows())
        store.begin(a_spec(entries=2_000))
        error = {"kind": "TargetDied", "message": 'it "died", so', "remedy": "look"}
        store.fail(a_spec(entries=2_000).key, error)
        store.plan([a_spec("add", rate=5_000.0, repeat=1)])
    return path


@pytest.fixture
def run(path: Path) -> RunFile:
    """Return that run file, open."""
    return RunFile(path)
