"""A reader that closes early, such as `head`, or a full disk: no command ends with a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import SITEBENCH, in_process
from tests.support.programs import run_program
from tests.support.runs import write_run
from tests.support.waiting import left_s

MEASURED = "measured.sitebench"
PEOPLE = ("--entries", "100")
LOAD = (*PEOPLE, "--users", "2", "--rate", "200")
WINDOW = ("--warmup", "0s", "--measure", "300ms")


@pytest.mark.parametrize(
    ("argv", "codes"),
    [
        pytest.param(("--help",), {1}, id="help"),
        pytest.param(("ils", "run", "--help"), {1}, id="help-of-a-command"),
        pytest.param(("ils", "operations"), {1}, id="operations"),
        pytest.param(("docs", "scenarios"), {0}, id="docs"),
        pytest.param(("export", MEASURED, "--what", "steps"), {0}, id="export"),
        pytest.param(("plan", "ils", MEASURED, "--json"), {1, 2}, id="plan"),
        pytest.param(("ils", "run", *LOAD, *WINDOW, "--json"), {1}, id="run"),
    ],
)
def test_closed_pipe_ends_a_command_quietly(
    argv: tuple[str, ...], codes: set[int], tmp_path: Path
) -> None:
    write_run(tmp_path / MEASURED)
    pipe, command = subprocess.PIPE, [*SITEBENCH, *argv]
    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(left_s()) in codes, said
    assert "Traceback" not in said
    assert "Exception ignored" not in said


MODULE = SITEBENCH[2]


@pytest.mark.parametrize(
    ("module", "argv"),
    [
        pytest.param("sitebench", ("--version",), id="version"),
        pytest.param("sitebench", ("docs", "scenarios"), id="docs"),
        pytest.param(MODULE, ("--version",), id="version-of-the-module"),
        pytest.param(MODULE, ("--help",), id="help"),
        pytest.param(MODULE, ("ils", "operations"), id="operations"),
        pytest.param(MODULE, ("ils", "schema"), id="schema"),
        pytest.param(MODULE, ("ils", "seed", "--to", "-", "--entries", "100"), id="seed"),
        pytest.param(MODULE, ("export", MEASURED, "--what", "steps"), id="export"),
        pytest.param(MODULE, ("compare", MEASURED, "copy.sitebench"), id="compare"),
        pytest.param(MODULE, ("compare", MEASURED, "copy.sitebench", "--json"), id="compare-json"),
        pytest.param(
            MODULE, ("report", MEASURED, "--markdown", "-", "--out", "page.html"), id="report"
        ),
        pytest.param(MODULE, ("ils", "run", *LOAD, *WINDOW), id="run"),
        pytest.param(
            MODULE,
            ("ils", "run", *LOAD, *WINDOW, "--json", "--out", "run.sitebench"),
            id="run-json",
        ),
        pytest.param(
            MODULE, ("ils", "peak", "--clients", "1,2", *PEOPLE, *WINDOW, "--json"), id="peak"
        ),
    ],
)
def test_full_disk_on_stdout_is_a_one_line_error(
    module: str, argv: tuple[str, ...], tmp_path: Path
) -> None:
    for name in (MEASURED, "copy.sitebench"):
        write_run(tmp_path / name)
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", module, *argv],
            cwd=tmp_path,
            text=True,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 1, ran.stderr
    said = "sitebench: standard output cannot be written: No space left on device\n"
    assert ran.stderr.count(said) == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    if "run.sitebench" in argv:
        # Results that cannot be printed stay in the run file.
        kept = in_process("export", tmp_path / "run.sitebench")
        assert (kept.code, "lookup" in kept.out) == (0, True), kept.err


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_command_works_with_closed_standard_streams(closed: str, tmp_path: Path) -> None:
    """A service may have closed all three."""
    out = tmp_path / "run.sitebench"
    argv = (*SITEBENCH, "ils", "run", *LOAD, *WINDOW, "--out", str(out))
    ran = run_program(["sh", "-c", f'exec "$@" {closed}', "sh", *argv])
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert in_process("export", out).code == 0
