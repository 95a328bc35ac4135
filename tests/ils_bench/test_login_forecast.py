"""What a hash costs on slapd and 389-DS is what `plan logins` says, on a machine that is quiet."""

import json
from pathlib import Path

import pytest

from tests.ils_bench.conftest import LOCALES
from tests.ils_bench.login_forecast import FORECASTS, Windows, forecast, measuring, within
from tests.support.cli import in_process

WINDOWS = Windows(10, 10.0)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    ("server", "kind"), [(server, kind) for server, kinds in FORECASTS.items() for kind in kinds]
)
def test_the_cost_that_is_foretold_is_within_a_tenth(
    server: str, kind: str, tmp_path: Path
) -> None:
    with measuring(server, tmp_path) as at:
        pairs = forecast(server, kind, at, WINDOWS, tmp_path)
    for figure, pair in pairs.items():
        print(server, kind, figure, pair)
    assert {figure: str(pair) for figure, pair in pairs.items() if not within(pair)} == {}


@pytest.mark.parametrize("target", ["embedded", "openldap"])
def test_a_sweep_over_hashes_is_planned_from(target: str, tmp_path: Path) -> None:
    run = tmp_path / "run.sitebench"
    hashes = ("ssha", "pbkdf2-sha256:2000", "pbkdf2-sha256:20000", "argon2:1m:1", "argon2:8m:1")
    who = ("--entries", "60", "--hash-pool", "5", "--locales", ",".join(LOCALES))
    # So long, and none dearer, as one login must end in it, on a tenth of a core too. What one
    # costs is known from thirty as from thousands, which would take both cores for as long.
    window = ("--warmup", "100ms", "--measure", "2s")
    load = ("--target", target, "--users", "1", "--think", "50ms", *window)
    sweep = ("sweep", "--operations", "login", "--profile", "person", "--hash", ",".join(hashes))
    ran = in_process("ils", *sweep, *who, *load, "--out", run)
    assert ran.code == 0, ran.err
    asked = ("--hash", "pbkdf2-sha256:6000,argon2:4m:1", "--logins", "200")
    ran = in_process("plan", "logins", run, *asked, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    rounds, memory = found["answers"]
    # Real costs rise with rounds and with memory, and both are more than the protocol's.
    low, high = (found["calculations"][0]["values"][f"{name}_ms"] for name in ("low", "high"))
    assert low < rounds["cpu_ms"] < high
    assert rounds["cores"] == pytest.approx(0.2 * rounds["cpu_ms"])
    assert rounds["memory_gib"] is not None
    assert memory["cpu_ms"] > 0
