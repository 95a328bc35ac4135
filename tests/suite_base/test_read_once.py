"""A command reads a scenario file once, whatever it has to know of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.other_site import other_site

COUNTED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
from sitebench.cli.main import main
try:
    main()
finally:
    print("read", sum(str(each).endswith("mix.toml") for each in opened))
"""
LOAD = ("--users", "2", "--think", "20ms", "--warmup", "0s", "--measure", "300ms")


@pytest.mark.parametrize(
    "argv",
    [
        ("ps", "run", "mix.toml"),
        ("web", "sweep", "--scenario", "mix.toml", "--clients", "1,2"),
        ("ps", "run", "mix.toml", "--check"),
    ],
    ids=" ".join,
)
def test_a_scenario_file_is_read_once(argv: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text('[[operation]]\nget = "/a"\nexpect.status = 200\n')
    with other_site() as (url, _):
        load = () if "--check" in argv else LOAD[2:] if "--clients" in argv else LOAD
        ran = subprocess.run(
            [sys.executable, "-c", COUNTED, *argv, "--target", url, *load],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "read 1"
