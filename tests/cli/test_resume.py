"""`sitebench resume`: the command that it runs, and its refusals. test_kill.py runs it."""

import shlex
from pathlib import Path

import click
import pytest

from sitebench.cli.main import app
from sitebench.cli.resume import NOT_FROM_A_FILE, again
from sitebench.runs.store import RunStore
from sitebench.suite import suites
from tests.support.cli import in_process

RUN = Path("here/run.sitebench")


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("sitebench ils sweep", "ils sweep"),
        ("sitebench ils sweep --out old --json", "ils sweep --json"),
        ("sitebench ils sweep --out=old --resume", "ils sweep"),
        ("sitebench ils sweep -o old --json", "ils sweep --json"),
        ("sitebench ils sweep -oold --json", "ils sweep --json"),
        ("sitebench ps peak --json --out old --sizes 1k", "ps peak --json --sizes 1k"),
    ],
)
def test_resume_uses_the_stored_command_and_the_present_file_name(command: str, argv: str) -> None:
    expected = [*argv.split(), "--out", str(RUN), "--resume"]
    assert again(command.split(), RUN) == expected
    assert again(["sitebench", *expected], RUN) == expected


@pytest.mark.parametrize(
    "command", [None, "sitebench ils sweep", [], ["sitebench"], ["python", "-m", "benches.soak"]]
)
def test_stored_command_of_another_program_is_not_run(command: object) -> None:
    assert again(command, RUN) is None


@pytest.mark.parametrize("option", ["fail-log", "junit", "docroot", "cgi-program"])
@pytest.mark.parametrize("joined", [True, False])
def test_run_file_cannot_choose_the_output_file_or_a_program(
    option: str, joined: bool, tmp_path: Path
) -> None:
    place, run = tmp_path / "chosen", tmp_path / "run"
    given = [f"--{option}={place}"] if joined else [f"--{option}", str(place)]
    with RunStore(run) as store:
        store.set_manifest({"command": ["sitebench", "web", "run", *given, "--measure", "1s"]})
    ran = in_process("resume", str(run)).check(2)
    said, remedy = ran.err.splitlines()
    assert f"has --{option}: a run file must not decide which files are written or run" in said
    assert remedy.endswith(f"{shlex.join(given)} --measure 1s --out {run} --resume")
    assert not place.exists()


ONLY_READ = {
    *("accounts", "access_log", "database", "password_file", "scenario", "store"),
    *("tls_ca", "tls_cert", "tls_key", "tls_key_password_file"),
}


def test_resume_ignores_every_file_option_that_names_a_file_to_write() -> None:
    context = click.Context(app)
    commands = [
        command
        for suite in suites()
        if isinstance(group := app.get_command(context, suite.name), click.Group)
        for name in group.list_commands(context)
        if (command := group.get_command(context, name)) is not None
    ]
    files = {
        str(param.name)
        for command in commands
        for param in command.params
        if "resume" in {each.name for each in command.params}
        and getattr(param, "metavar", None) in ("FILE", "FOLDER", "PLACE")
    }
    assert files - ONLY_READ - {"out"} == set(NOT_FROM_A_FILE)


def test_run_file_without_a_command_is_refused(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    in_process("resume", str(tmp_path / "run")).check(
        2, "has no sitebench command", "if a Python program wrote it, run that program again"
    )
