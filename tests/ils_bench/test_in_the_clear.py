"""Passwords that go over a network without TLS are said to."""

import pytest

from ils_bench.logins import script_of
from ils_bench.options import IlsOptions
from ils_bench.programs import send_passwords
from ils_bench.sequences import built_in
from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.opening import say_if_clear


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


def test_logins_send_passwords_and_lookups_do_not() -> None:
    assert send_passwords([script_of(IlsOptions(profile="person"))])
    assert not send_passwords([built_in("lookup")])
