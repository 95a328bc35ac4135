"""A reader that has enough, such as `head`: no command ends with a traceback."""

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import SITEBENCH

MEASURED = Path(__file__).parents[1] / "support/schema2.sitebench"
LOAD = ("--entries", "100", "--users", "2", "--rate", "200")
WINDOW = ("--warmup", "0s", "--measure", "300ms")


@pytest.mark.parametrize(
    ("argv", "codes"),
    [
        pytest.param(("--help",), {1}, id="help"),
        pytest.param(("ils", "run", "--help"), {1}, id="help-of-a-command"),
        pytest.param(("ils", "operations"), {1}, id="operations"),
        pytest.param(("docs", "scenarios"), {0}, id="docs"),
        pytest.param(("export", str(MEASURED), "--what", "steps"), {0}, id="export"),
        pytest.param(("plan", "ils", str(MEASURED), "--json"), {1, 2}, id="plan"),
        pytest.param(("ils", "run", *LOAD, *WINDOW, "--json"), {1}, id="run"),
    ],
)
def test_a_reader_that_has_enough_ends_a_command_quietly(
    argv: tuple[str, ...], codes: set[int]
) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*SITEBENCH, *argv], text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) in codes, said
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_without_an_output_does_its_work(closed: str, tmp_path: Path) -> None:
    """A service may have closed all three."""
    out = tmp_path / "run.sitebench"
    argv = (*SITEBENCH, "ils", "run", *LOAD, *WINDOW, "--out", str(out))
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *argv],
        text=True,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert subprocess.run([*SITEBENCH, "export", str(out)], check=False).returncode == 0
