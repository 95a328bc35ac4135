"""Invalid input of all kinds: one line, its remedy, and an exit code."""

import os
import sys
from pathlib import Path

import pytest

from ils_bench.suite import SUITE
from ils_bench.targets import openldap as openldap_target
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import ProgramMissing
from sitebench.system import programs
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import Ran, in_process
from tests.support.programs import run_program

SHORT = ("--users", "2", "--warmup", "100ms", "--measure", "500ms")


ADMIN = ("--bind-dn", "cn=admin,o=Intranet")


@pytest.mark.parametrize(
    ("options", "environment", "words"),
    [
        (("--base", "ou=No,o=Intranet"), {}, ("has no entry 'ou=No,o=Intranet'", "--base")),
        (
            (*ADMIN, "--password-file", "password"),
            {},
            ("refuses the bind of 'cn=admin,o=Intranet'", "--password-file"),
        ),
        (ADMIN, {"SITEBENCH_BIND_PASSWORD": "guess"}, ("invalidCredentials",)),
    ],
    ids=["wrong base", "wrong password of a file", "wrong password of the environment"],
)
def test_wrong_base_or_password_is_refused(
    openldap: OpenDirectory,
    tmp_path: Path,
    options: tuple[str, ...],
    environment: dict[str, str],
    words: tuple[str, ...],
) -> None:
    (tmp_path / "password").write_text("guess\n")
    argv = ("ils", "run", "lookup", "--target", str(openldap.address), *options, *SHORT)
    in_process(*argv, cwd=tmp_path, **environment).refuse(2, *words)


def test_missing_slapd_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_DAEMONS", ())
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ProgramMissing, match=r"slapd is not installed.*apt-get install slapd"):
        openldap_target.find("slapd")


def limited(files: int, module: str, *argv: str) -> Ran:
    """Run a command with this limit of open files."""
    code = (
        "import resource;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}));"
        f"from {module} import main; main()"
    )
    done = run_program([sys.executable, "-c", code, *argv])
    return Ran(done.returncode, done.stdout, done.stderr)


def test_too_low_limit_of_file_descriptors_is_refused() -> None:
    argv = ("ils", "run", "lookup", "--users", "300", *SHORT[2:])
    ran = limited(200, "sitebench.cli.main", *argv)
    ran.refuse(1, "300 users need 396 open files", "ulimit -Hn 396")


def test_exhausted_file_descriptors_are_reported(openldap: OpenDirectory) -> None:
    # Locust started by hand does not check the limit before.
    ran = limited(
        *(120, "locust.main", "--headless", "-f", str(SUITE.locustfile_path())),
        *("-u", "300", "-r", "300", "--measure", "1s", "--target", str(openldap.address)),
        *("--entries", "300", "--locales", ",".join(LOCALES), "--disposable", "LookupUser"),
    )
    assert ran.code == 1
    assert "this process may not open more files; raise `ulimit -n`" in ran.out + ran.err
