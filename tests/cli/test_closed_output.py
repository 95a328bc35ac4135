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
PEOPLE = "--entries 100"
WINDOW = "--warmup 0s --measure 300ms"
RUN = f"ils run {PEOPLE} --users 2 --rate 200 {WINDOW}"


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("--help", {1}),
        ("ils run --help", {1}),
        ("ils operations", {1}),
        ("docs scenarios", {0}),
        (f"export {MEASURED} --what steps", {0}),
        (f"plan ils {MEASURED} --json", {1, 2}),
        (f"{RUN} --json", {1}),
    ],
)
def test_closed_pipe_ends_a_command_quietly(line: str, codes: set[int], tmp_path: Path) -> None:
    write_run(tmp_path / MEASURED)
    pipe, command = subprocess.PIPE, [*SITEBENCH, *line.split()]
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
    ("module", "line"),
    [
        ("sitebench", "--version"),
        ("sitebench", "docs scenarios"),
        (MODULE, "--version"),
        (MODULE, "--help"),
        (MODULE, "ils operations"),
        (MODULE, "ils schema"),
        (MODULE, f"ils seed --to - {PEOPLE}"),
        (MODULE, f"export {MEASURED} --what steps"),
        (MODULE, f"compare {MEASURED} copy.sitebench"),
        (MODULE, f"compare {MEASURED} copy.sitebench --json"),
        (MODULE, f"report {MEASURED} --markdown - --out page.html"),
        (MODULE, RUN),
        (MODULE, f"{RUN} --json --out run.sitebench"),
        (MODULE, f"ils peak --clients 1,2 {PEOPLE} {WINDOW} --json"),
    ],
)
def test_full_disk_on_stdout_is_a_one_line_error(module: str, line: str, tmp_path: Path) -> None:
    for name in (MEASURED, "copy.sitebench"):
        write_run(tmp_path / name)
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", module, *line.split()],
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
    if "run.sitebench" in line:
        # Results that cannot be printed stay in the run file.
        kept = in_process("export", tmp_path / "run.sitebench")
        assert (kept.code, "lookup" in kept.out) == (0, True), kept.err


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_command_works_with_closed_standard_streams(closed: str, tmp_path: Path) -> None:
    """A service may have closed all three."""
    out = tmp_path / "run.sitebench"
    argv = (*SITEBENCH, *RUN.split(), "--out", str(out))
    ran = run_program(["sh", "-c", f'exec "$@" {closed}', "sh", *argv])
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert in_process("export", out).code == 0
