"""Dynamic entries live as long as they were given, and no longer (RFC 2589)."""

import time

import pytest
from ldap3 import MODIFY_REPLACE

from tests.conformance.ldap3_client import Clients
from tests.conformance.served import Served
from tests.support.dynamic import refresh, there, ttl_s
from tests.support.waiting import eventually

CLASSES = ["inetOrgPerson", "dynamicObject"]

# How late after its time an entry may still be seen: servers sweep about once a second.
SWEPT_WITHIN_S = 2.0


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def test_entry_expires_at_its_time_to_live(server: Served, scratch: str, clients: Clients) -> None:
    connection = clients.raw(server)
    dn = f"cn=Brief,{scratch}"
    assert connection.add(dn, CLASSES, {"sn": "x"}), connection.result
    began = time.monotonic()
    assert refresh(connection, dn, 3)
    answered = asked = time.monotonic()
    while there(connection, dn):
        # A busy machine asks, and sweeps, late.
        assert asked < answered + 3 + 10
        time.sleep(0.05)
        asked = time.monotonic()
    # slapd counts in whole seconds and so may be one early.
    assert time.monotonic() >= began + (3 if server.is_embedded else 2)
    connection.search(scratch, "(cn=Brief)")
    assert connection.response == []


def test_refreshing_again_gives_more_time(server: Served, scratch: str, clients: Clients) -> None:
    connection = clients.raw(server)
    dn = f"cn=Kept,{scratch}"
    assert connection.add(dn, CLASSES, {"sn": "x"})
    began = time.monotonic()
    assert refresh(connection, dn, 10)
    sleep_until(began + 1)
    assert refresh(connection, dn, 600)
    sleep_until(began + 10 + SWEPT_WITHIN_S)
    assert 500 <= ttl_s(connection, dn) <= 600


def test_entries_without_a_life_stay(server: Served, scratch: str, clients: Clients) -> None:
    connection = clients.raw(server)
    dn = f"cn=Lasting,{scratch}"
    assert connection.add(dn, ["inetOrgPerson"], {"sn": "x"})
    assert not refresh(connection, dn, 1)
    time.sleep(1 + SWEPT_WITHIN_S)
    assert there(connection, dn)
    assert not connection.response[0]["raw_attributes"].get("entryTtl")


def test_expired_name_is_free_again(server: Served, scratch: str, clients: Clients) -> None:
    connection = clients.raw(server)
    dn = f"cn=Reborn,{scratch}"
    for _ in range(2):
        assert connection.add(dn, CLASSES, {"sn": "x"}), connection.result
        assert refresh(connection, dn, 1)
        assert eventually(lambda: not there(connection, dn))


@pytest.mark.parametrize("server", ["embedded"], indirect=True)
def test_modify_of_entry_ttl_sets_the_life(server: Served, scratch: str, clients: Clients) -> None:
    """TAPI clients prolong that way; slapd leaves it to refresh alone."""
    connection = clients.raw(server)
    dn = f"cn=Tapi,{scratch}"
    assert connection.add(dn, CLASSES, {"sn": "x"})
    assert connection.modify(dn, {"entryTtl": [(MODIFY_REPLACE, ["2"])]}), connection.result
    assert ttl_s(connection, dn) <= 2
    assert eventually(lambda: not there(connection, dn))
