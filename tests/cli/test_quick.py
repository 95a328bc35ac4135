"""The start time of completion and `--help`, measured by the modules that they import."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.programs import run_program

HEAVY = ("typer", "pydantic", "rich", "locust", "ldap3", "faker", "gevent")
SLOW = ("http.client", "email", "importlib.metadata", "concurrent.futures", "logging", "pickle")
"""Standard-library modules: importing them takes a tenth of the start time of a command."""
ASKED = "_SITEBENCH_COMPLETE"
BRIEF = ("--warmup", "0s", "--measure", "300ms", "--allow-failures", "-q")


def watched(
    argv: Sequence[str], modules: Sequence[str] = HEAVY, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line, then print which of the modules it has imported."""
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print([each for each in {modules} if each in sys.modules]))\n"
        "from sitebench.__main__ import main\nmain()"
    )
    return run_program([sys.executable, "-c", code, *argv], env={**os.environ, **(env or {})})


@pytest.mark.parametrize("line", ["--version", "--help", "ils run -h", "web sweep --help"])
def test_help_imports_no_heavy_module(line: str) -> None:
    done = watched(line.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("sitebench ", ["ils", "directory", "compare"]),
        ("sitebench ils run --ent", ["--entries"]),
        ("sitebench ils run lo", ["lookup"]),
        ("sitebench ils sweep --operations ", ["connect", "add"]),
        ("sitebench web run spice-", ["spice-cgi"]),
        ("sitebench ils run --client ", ["native", "ldap3"]),
        ("sitebench demo p", ["ps"]),
    ],
)
def test_completion_offers_matches_and_imports_few_modules(line: str, offered: list[str]) -> None:
    words = line.split(" ")
    env = {ASKED: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = watched((), env=env)
    assert done.stderr == ""
    *found, imported = done.stdout.splitlines()
    assert {f"plain,{each}" for each in offered} <= set(found)
    assert all(each.startswith(f"plain,{words[-1]}") for each in found)
    assert imported == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_of_each_shell_calls_sitebench(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(watched((), env={ASKED: f"{shell}_source"}).stdout.rpartition("\n[]")[0])
    assert f"{ASKED}={shell}_complete" in script.read_text()
    if shell == "bash":
        read = run_program(
            ["bash", "--noprofile", "--rcfile", str(script), "-ic", "complete -p sitebench"]
        )
        assert "_sitebench_completion" in read.stdout, read.stderr


def test_run_imports_no_rarely_needed_module() -> None:
    done = watched(("ils", "run", "nothing"), SLOW)
    assert (done.returncode, done.stdout) == (2, "[]\n"), done.stderr


def test_run_with_embedded_server_imports_no_ldap3() -> None:
    """Importing ldap3, which only foreign directories need, costs 0.2 s of CPU twice per point."""
    asked = ("--entries", "20", "--locales", "en_US", "--users", "1", "--rate", "50")
    done = watched(("ils", "run", "lookup", *asked, *BRIEF), (*HEAVY, "http.client"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['rich']"


@pytest.mark.parametrize("module", ["ils_bench.targets.embedded", "ps_bench.targets.embedded"])
def test_embedded_server_imports_no_rarely_needed_module(module: str) -> None:
    few = (*SLOW, "psutil")
    code = f"import {module}, sys; print([each for each in {few} if each in sys.modules])"
    found = run_program([sys.executable, "-c", code], check=True)
    assert found.stdout == "[]\n"
