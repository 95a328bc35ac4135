"""Everything that can be asked for wrongly: one line, its remedy, and an exit code."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.suite import SUITE
from ils_bench.targets import openldap as openldap_target
from ils_bench.targets import probe
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import ProgramMissing
from sitebench.runs.store import RunStore
from sitebench.system import programs
from sitebench.system.network import free_port
from sitebench.targets.ownership import FLAG
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import Ran, in_process, sitebench
from tests.support.waiting import left_s

SHORT = ("--users", "2", "--warmup", "100ms", "--measure", "500ms")


def refused(ran: Ran, code: int, *words: str) -> None:
    """Check that a command said what was wrong in one line, then what to do, and nothing else."""
    assert ran.code == code, ran.err
    lines = ran.err.strip().splitlines()
    assert len(lines) == 2, ran.err
    assert lines[0].startswith("sitebench: ")
    assert lines[1].startswith("  ")
    for word in words:
        assert word in ran.err


@pytest.fixture
def talker(request: pytest.FixtureRequest) -> Iterator[int]:
    """A server that says to everyone what it was given to say, or nothing at all."""
    server = socket.create_server(("127.0.0.1", 0))
    said: bytes = request.param

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            kept.append(connection)
            if said:
                connection.sendall(said)

    kept: list[socket.socket] = [server]
    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    thread.join()
    for each in kept:
        each.close()


@pytest.mark.parametrize("size", ["10x", "0", "-5", "", "1.0001k"])
def test_unknown_size_is_refused(size: str) -> None:
    refused(in_process("ils", "run", "lookup", f"--entries={size}"), 2, "size", "10k")


def test_unknown_size_in_a_list_is_refused() -> None:
    refused(in_process("ils", "sweep", "--sizes", "1k,many"), 2, "'many'")


@pytest.mark.parametrize("target", [(), ("--target", "embedded"), ("--target", "slapd:/folder")])
def test_clean_without_target_is_refused(target: tuple[str, ...]) -> None:
    ran = in_process("ils", "clean", "--seeded", *target)
    refused(ran, 2, "which directory", "--target ldap://host:port")


def test_seed_without_destination_is_refused() -> None:
    refused(
        in_process("ils", "seed", "--entries", "10"), 2, "no destination is named", "people.ldif"
    )


def test_unknown_operation_is_refused() -> None:
    refused(in_process("ils", "run", "fly"), 2, "unknown operation 'fly'", "connect, add, lookup")


@pytest.mark.parametrize("target", ["exchange", "ldapi://socket", "ldap://a:x"])
def test_unknown_target_is_refused(target: str) -> None:
    refused(in_process("ils", "run", "lookup", "--target", target), 2, target, "write embedded")


def test_unreachable_target_is_refused(unused_port: int) -> None:
    ran = in_process("ils", "run", "lookup", "--target", f"ldap://127.0.0.1:{unused_port}", *SHORT)
    refused(ran, 1, f"nothing answers at ldap://127.0.0.1:{unused_port}", "is running")


@pytest.mark.parametrize("out", [(), ("--out", "run")])
def test_failed_start_has_no_file(unused_port: int, tmp_path: Path, out: tuple[str, ...]) -> None:
    target = f"ldap://127.0.0.1:{unused_port}"
    argv = ("ils", "sweep", "--sizes", "100", "--target", target, FLAG, *out, *SHORT)
    refused(in_process(*argv, cwd=tmp_path), 1, f"nothing answers at {target}")
    assert list(tmp_path.iterdir()) == []


def test_existing_run_file_stays_after_a_failure(unused_port: int, tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    target = f"ldap://127.0.0.1:{unused_port}"
    argv = ("ils", "sweep", "--sizes", "100", "--target", target, FLAG, "--out", "run", *SHORT)
    assert in_process(*argv, cwd=tmp_path).code == 1
    assert [each.name for each in tmp_path.iterdir()] == ["run"]


def test_unknown_host_is_refused() -> None:
    ran = in_process("ils", "run", "lookup", "--target", "ldap://no-such-host.invalid:389", *SHORT)
    refused(ran, 1, "nothing answers at ldap://no-such-host.invalid:389")


@pytest.fixture
def unused_port() -> int:
    return free_port()


@pytest.mark.parametrize(
    "talker",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00" * 64, b""],
    indirect=True,
)
def test_target_with_wrong_or_no_answers_is_refused(
    talker: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_SILENCE_S", 1.0)
    ran = in_process("ils", "run", "lookup", "--target", f"ldap://127.0.0.1:{talker}", *SHORT)
    refused(ran, 1, "does not answer as an LDAP server does", "check host and port")


def test_wrong_base_is_refused(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--base", "ou=Nobody,o=Intranet", *SHORT),
    )
    refused(ran, 2, "has no entry 'ou=Nobody,o=Intranet'", "--base")


def test_wrong_password_is_refused(openldap: OpenDirectory, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("guess\n")
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--bind-dn", "cn=admin,o=Intranet", "--password-file", str(tmp_path / "password")),
        *SHORT,
    )
    refused(ran, 2, "refuses the bind of 'cn=admin,o=Intranet'", "--password-file")


def test_a_password_in_the_environment_is_used(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--bind-dn", "cn=admin,o=Intranet", *SHORT),
        SITEBENCH_BIND_PASSWORD="guess",
    )
    refused(ran, 2, "invalidCredentials")


def test_missing_password_file_is_named(openldap: OpenDirectory) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", str(openldap.address)),
        *("--bind-dn", "cn=admin,o=Intranet", "--password-file", "/no/such/file", *SHORT),
    )
    refused(ran, 2, "cannot read the password file /no/such/file")


def test_file_of_another_kind_is_refused_as_run_file(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("these are notes\n" * 100)
    ran = in_process("ils", "run", "lookup", "--out", str(tmp_path / "run"))
    refused(ran, 2, "is not a run file of sitebench", "--out")


def test_run_file_in_a_missing_folder_is_refused(tmp_path: Path) -> None:
    ran = in_process("ils", "run", "lookup", "--out", str(tmp_path / "absent" / "run"))
    refused(ran, 2, "cannot open run file")


def test_unknown_locale_is_refused() -> None:
    refused(in_process("ils", "run", "lookup", "--locales", "xx_XX", *SHORT), 2, "xx_XX")


def test_missing_slapd_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_DAEMONS", ())
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ProgramMissing, match=r"slapd is not installed.*apt-get install slapd"):
        openldap_target.find("slapd")


def test_an_option_that_does_not_exist_is_the_usual_usage_error() -> None:
    sitebench("ils", "run", "lookup", "--entires", "10k").check(2, "--entries")


def limited(files: int, *argv: str) -> Ran:
    """Run a command that may have this many files open, and no more."""
    code = (
        "import resource, runpy, sys;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}));"
        "sys.argv[0] = 'sitebench'; runpy.run_module('sitebench.cli.main', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=left_s(),
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_too_low_limit_of_file_descriptors_is_refused() -> None:
    ran = limited(200, "ils", "run", "lookup", "--users", "300", *SHORT[2:])
    refused(ran, 1, "300 users need 396 open files", "ulimit -Hn 396")


def test_exhausted_file_descriptors_are_reported(openldap: OpenDirectory) -> None:
    # As Locust is started by hand: the limit has not been checked before.
    done = subprocess.run(
        [
            *(sys.executable, "-c", LIMITED_LOCUST, "--headless"),
            *("-f", str(SUITE.locustfile_path())),
            *("-u", "300", "-r", "300", "--measure", "1s", "--target", str(openldap.address)),
            *("--entries", "300", "--locales", ",".join(LOCALES), "--disposable", "LookupUser"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=left_s(),
    )
    assert done.returncode == 1
    assert "this process may open no more files; raise `ulimit -n`" in done.stdout + done.stderr


LIMITED_LOCUST = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))
from locust.main import main
main()
"""
