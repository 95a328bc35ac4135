"""Passwords that go over a network without TLS are said to."""

from pathlib import Path

import pytest

from ils_bench.login.logins import script_of
from ils_bench.options import IlsOptions
from ils_bench.programs import send_passwords
from ils_bench.sequences import built_in
from ils_bench.targets import opening
from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.opening import say_if_clear
from sitebench import LdapDirectory
from tests.support.cli import in_process


@pytest.mark.parametrize(
    ("host", "scheme", "said"),
    [
        ("192.0.2.1", "ldap", "passwords go to ldap://192.0.2.1:389 in the clear: use ldaps://"),
        ("192.0.2.1", "ldaps", ""),
        ("192.0.2.1", START_TLS, ""),
        ("127.0.0.1", "ldap", ""),
    ],
)
def test_passwords_in_the_clear_over_a_network_are_said(
    host: str, scheme: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say_if_clear(DirectoryAddress(host, 389, scheme))
    shown = " ".join(capsys.readouterr().err.split())
    assert said in shown
    assert bool(said) == bool(shown)


@pytest.mark.parametrize(("operation", "times"), [("login", 1), ("connect", 0)])
def test_a_run_says_so_once_where_it_sends_any(
    operation: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is here; it is taken for one that is not."""
    monkeypatch.setattr(opening, "on_loopback", lambda _: False)
    with LdapDirectory(10, profile="person", locales=("en_US",), one_password="one") as directory:
        accounts = tmp_path / "accounts.csv"
        accounts.write_text("uid,password\nuser.0,one\n")
        more = ("--accounts", accounts) if operation == "login" else ()
        short = ("--users", "1", "--rate", "50", "--warmup", "0s", "--measure", "300ms")
        at = ("--target", f"{directory.url}/{directory.base}")
        ran = in_process("ils", "run", operation, *at, *more, *short)
    assert ran.code == 0, ran.err
    assert ran.err.count("in the clear") == times


def test_logins_send_passwords_and_lookups_do_not() -> None:
    assert send_passwords([script_of(IlsOptions(profile="person"))])
    assert not send_passwords([built_in("lookup")])
