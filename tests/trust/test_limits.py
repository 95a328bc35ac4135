"""Limits on the command line and in Python; their effects are tested beside the servers."""

import socket

import ldap3
import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.errors import BadInput, UnknownValue
from sitebench.targets.serving import parse_limits
from tests.ils_bench.test_serve import LOCALES, address
from tests.support.cli import in_process
from tests.support.serving import serving


def test_limits_are_parsed_as_pairs() -> None:
    assert parse_limits("stall_ms=200, connections=5") == {"stall_ms": 200, "connections": 5}
    for wrong in ("stall_ms", "stall_ms=", "stall_ms=-1", "stall_ms=soon"):
        with pytest.raises(UnknownValue, match="name=number"):
            parse_limits(wrong)


@pytest.mark.parametrize("suite", ["ils", "ps"])
def test_unknown_or_impossible_limit_is_refused(suite: str) -> None:
    start = (suite, "serve", "--entries", "5", "--locales", "en_US", "--port", "0", "--limit")
    in_process(*start, "patience=3").refuse(2, "patience", "connections_per_address")
    in_process(*start, "connections=0").refuse(2, "connections cannot be 0")


def test_limit_of_the_command_line_is_in_force() -> None:
    limits = ("--limit", "search_entries=2,stall_ms=500")
    with serving("ils", *LOCALES, "--entries", "5", *limits) as (_, lines):
        connection = ldap3.Connection(address(lines), auto_bind=True)
        connection.search("o=Intranet", "(objectClass=*)")
        assert connection.result["description"] == "sizeLimitExceeded"
        assert len(connection.entries) == 2
        connection.unbind()


def test_limits_can_be_set_from_python() -> None:
    with (
        LdapDirectory(5, locales=("en_US",), limits={"connections": 1}) as directory,
        socket.create_connection(("127.0.0.1", directory.port), 10),
        socket.create_connection(("127.0.0.1", directory.port), 10) as second,
    ):
        assert b"too many connections" in second.recv(1000)
    with (
        PersonalizedSite(5, locales=("en_US",), limits={"target_bytes": 10}) as site,
        socket.create_connection(("127.0.0.1", site.port), 10) as client,
    ):
        client.sendall(b"GET /0123456789 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 414 ")
    with pytest.raises(BadInput, match="name_bytes"):
        LdapDirectory(0, limits={"name_bytes": 1_000_000})
