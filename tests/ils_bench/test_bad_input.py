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


def test_wrong_base_is_refused(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--base", "ou=Nobody,o=Intranet", *SHORT),
    )
    ran.refuse(2, "has no entry 'ou=Nobody,o=Intranet'", "--base")


def test_wrong_password_is_refused(openldap: OpenDirectory, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("guess\n")
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--bind-dn", "cn=admin,o=Intranet", "--password-file", str(tmp_path / "password")),
        *SHORT,
    )
    ran.refuse(2, "refuses the bind of 'cn=admin,o=Intranet'", "--password-file")


def test_password_of_the_environment_is_used(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--bind-dn", "cn=admin,o=Intranet", *SHORT),
        SITEBENCH_BIND_PASSWORD="guess",
    )
    ran.refuse(2, "invalidCredentials")


def test_missing_slapd_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_DAEMONS", ())
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ProgramMissing, match=r"slapd is not installed.*apt-get install slapd"):
        openldap_target.find("slapd")


def limited(files: int, *argv: str) -> Ran:
    """Run a command with this limit of open files."""
    code = (
        "import resource, runpy, sys;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}));"
        "sys.argv[0] = 'sitebench'; runpy.run_module('sitebench.cli.main', run_name='__main__')"
    )
    done = run_program([sys.executable, "-c", code, *argv])
    return Ran(done.returncode, done.stdout, done.stderr)


def test_too_low_limit_of_file_descriptors_is_refused() -> None:
    ran = limited(200, "ils", "run", "lookup", "--users", "300", *SHORT[2:])
    ran.refuse(1, "300 users need 396 open files", "ulimit -Hn 396")


def test_exhausted_file_descriptors_are_reported(openldap: OpenDirectory) -> None:
    # Locust started by hand does not check the limit before.
    done = run_program(
        [
            *(sys.executable, "-c", LIMITED_LOCUST, "--headless"),
            *("-f", str(SUITE.locustfile_path())),
            *("-u", "300", "-r", "300", "--measure", "1s", "--target", str(openldap.address)),
            *("--entries", "300", "--locales", ",".join(LOCALES), "--disposable", "LookupUser"),
        ]
    )
    assert done.returncode == 1
    assert "this process may not open more files; raise `ulimit -n`" in done.stdout + done.stderr


LIMITED_LOCUST = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))
from locust.main import main
main()
"""
