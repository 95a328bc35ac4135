"""Alternative names of options and suites have the same meaning as the first name."""

import shlex
from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.suite import suite
from tests.docs.shown import parse
from tests.support.cli import sitebench


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ils run -u 8 -r 2k -d 3s -o run", "ils run --users 8 --rate 2k --measure 3s --out run"),
        ("ils run -u8 -d3s", "ils run --users=8 --measure=3s"),
        ("ps run --duration 3s --size 1k", "ps run --measure 3s --entries 1k"),
        ("ils run --sizes 5", "ils run --entries 5"),
        ("ils sweep --sizes 1k,2k", "ils sweep --entries 1k,2k"),
        ("ps sweep --size 1k,2k", "ps sweep --entries 1k,2k"),
        ("web sweep spice-cgi --users 1,4", "web sweep spice-cgi --clients 1,4"),
        ("web spice -u 1,4 -d 1s", "web spice --clients 1,4 --measure 1s"),
        ("ils peak -u 8 -d 3s", "ils peak --users 8 --measure 3s"),
        ("ils ui -u 8 -o all", "ils ui --users 8 --out all"),
        ("ils serve --size 5", "ils serve --entries 5"),
        ("ils seed --size 5", "ils seed --entries 5"),
        ("plan ils --entries 1k", "plan ils --size 1k"),
        ("demo -d 2s -o here", "demo --measure 2s --out here"),
        ("report run -o page", "report run --out page"),
        ("directory run -u 8", "ils run -u 8"),
        ("site sweep --sizes 1k", "ps sweep --sizes 1k"),
        ("plan directory --community 1k", "plan ils --community 1k"),
        ("plan site", "plan ps"),
    ],
)
def test_short_and_long_option_names_parse_alike(one: str, other: str) -> None:
    assert parse(shlex.split(one)) == parse(shlex.split(other))


def test_a_suite_is_found_by_its_long_name() -> None:
    assert suite("directory") is suite("ils")
    assert suite("site") is suite("ps")


def test_run_with_short_options_and_long_suite_name_is_measured_and_resumed(tmp_path: Path) -> None:
    line = "directory run lookup -u 2 -r 200 -d 300ms --warmup 0 --size 50 -o run --json"
    ran = sitebench(*line.split(), cwd=tmp_path)
    assert ran.code in (0, 1), ran.err
    with RunFile(tmp_path / "run") as file:
        (point,) = file.points()
    assert (point.spec.suite, point.spec.entries, point.spec.rate) == ("ils", 50, 200)
    resumed = sitebench("resume", "run", cwd=tmp_path)
    assert "resuming with: sitebench directory run lookup" in resumed.err
    assert " -o " not in resumed.err
