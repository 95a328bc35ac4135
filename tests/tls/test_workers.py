"""Workers use the test's certificate authorities and its setting for session resumption."""

from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.system.network import free_port
from tests.support.cli import in_process
from tests.support.workers import forked_workers

PEOPLE = ("--entries", "50", "--locales", "en_US")
SHORT = (
    *("--users", "4", "--threads", "1", "--think", "10ms"),
    *("--warmup", "100ms", "--measure", "1s", "--json"),
)


@pytest.mark.parametrize(
    "test",
    [("ils", "run", "connect", "--tls", "--tls-resume"), ("ps", "run", "page", "--tls")],
    ids=" ".join,
)
def test_worker_measures_over_tls(test: tuple[str, ...], tmp_path: Path) -> None:
    master, out = f"127.0.0.1:{free_port()}", tmp_path / "run"
    gathering = ("--workers", "1", "--bind", master, "--out", str(out))
    with forked_workers(tmp_path, master):
        ran = in_process(*test, *PEOPLE, *SHORT, *gathering)
    assert ran.point["operations"] > 0
    assert ran.point["failures"] == 0
    with RunFile(out) as run:
        (point,) = run.points()
    assert point.result is not None
    assert len(point.result.workers) == 1
    settings = point.spec.settings
    assert settings["tls_resume"] == str("--tls-resume" in test).lower()
