"""`sitebench resume`: which command it runs, and what it refuses. test_kill.py runs it."""

from pathlib import Path

import pytest

from sitebench.cli.resume import again
from sitebench.runs.store import RunStore
from tests.support.cli import in_process

RUN = Path("here/run.sitebench")


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("sitebench ils sweep", "ils sweep"),
        ("sitebench ils sweep --out old --json", "ils sweep --json"),
        ("sitebench ils sweep --out=old --resume", "ils sweep"),
        ("sitebench ps peak --json --out old --sizes 1k", "ps peak --json --sizes 1k"),
    ],
)
def test_the_command_is_the_runs_own_with_the_file_as_it_is_named_now(
    command: str, argv: str
) -> None:
    expected = [*argv.split(), "--out", str(RUN), "--resume"]
    assert again(command.split(), RUN) == expected
    assert again(["sitebench", *expected], RUN) == expected


@pytest.mark.parametrize(
    "command", [None, "sitebench ils sweep", [], ["sitebench"], ["python", "-m", "benches.soak"]]
)
def test_what_is_no_command_of_sitebench_is_not_run(command: object) -> None:
    assert again(command, RUN) is None


def test_a_file_without_a_command_is_refused(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    ran = in_process("resume", str(tmp_path / "run"))
    assert ran.code == 2
    assert "does not hold a sitebench command" in ran.err


def test_resume_does_not_begin_a_run_that_is_not_there(tmp_path: Path) -> None:
    ran = in_process("ils", "sweep", "--out", "typo", "--resume", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith("sitebench: no run file at typo\n")
    ran = in_process("ils", "sweep", "--resume", cwd=tmp_path)
    assert ran.code == 2
    assert "--resume needs a run file" in ran.err
    assert list(tmp_path.iterdir()) == []
