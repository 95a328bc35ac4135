"""NetMeeting's side of an Internet Locator Server, message by message (MS-TAIL)."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from ldap3 import BASE, MODIFY_ADD, MODIFY_REPLACE, SUBTREE
from ldap3.operation.add import add_operation

from tests.conformance.embedded import running_embedded
from tests.conformance.ldap3_client import Clients, entries, lowered
from tests.conformance.served import Served
from tests.support.dynamic import refresh, there, ttl_s
from tests.support.waiting import eventually

RTPERSON = "objectClass=rtPerson"


def wire_dn(email: str) -> str:
    """A client's name of a user: most significant part first; no part is a parent entry."""
    return f"c=-,o=Microsoft,cn={email},{RTPERSON}"


def stored_dn(email: str) -> str:
    return f"cn={email},ou=Dynamic,o=Intranet"


# Fifteen attributes of a NetMeeting registration, without objectClass.
def registration(email: str) -> dict[str, list[str | bytes]]:
    return {
        "cn": [email],
        "givenname": ["Ada"],
        "surname": ["Lovelace"],
        "rfc822mailbox": [email],
        "location": ["London"],
        "comment": ["counting"],
        "c": ["gb"],
        "sipaddress": ["1613317642"],
        "sflags": ["1"],
        "ssecurity": ["12345678"],
        "ilsA26214430": ["0"],
        "ilsA26279966": ["67374395"],
        "ilsA32833566": ["1"],
        "ilsA32964638": ["1"],
        "ilsA39321630": ["2"],
    }


APPLICATION = {
    "smodop": ["0"],
    "sappid": ["ms-netmeeting"],
    "smimetype": ["text/iuls"],
    "sappguid": ["008aff194794cf118796444553540000"],
    "sprotid": ["T120", "H323"],
    "sprotmimetype": ["text/h323", "text/t120"],
    "sport": ["1503", "1720"],
}


@pytest.fixture(scope="module")
def ils(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("ils")
    options = ("--profile", "ils", "--entries", "0")
    with running_embedded(folder, *options, anonymous_writes=True) as served:
        yield served


@pytest.fixture(params=[2, 3], ids=["v2", "v3"])
def netmeeting(ils: Served, clients: Clients, request: pytest.FixtureRequest) -> Any:
    """An anonymous client of either version."""
    return clients.raw(ils, anonymous=True, version=request.param)


_emails = iter(f"user{i}@example.com" for i in range(10_000))


@pytest.fixture
def email() -> str:
    return next(_emails)


def add(connection: Any, dn: str, attributes: dict[str, list[str | bytes]]) -> None:
    """Send an ADD without an objectClass, which `Connection.add` requires."""
    request = add_operation(dn, attributes, True)
    connection.post_send_single_response(connection.send("addRequest", request, None))


def register(connection: Any, email: str, **more: list[str | bytes]) -> None:
    add(connection, wire_dn(email), registration(email) | more)
    assert connection.result["description"] == "success", connection.result


def keep_online(connection: Any, email: str, minutes: int) -> bool:
    """Send the search that resets the time to live; False if the user must register again."""
    text = f"(&({RTPERSON})(cn={email})(sttl={minutes}))"
    connection.search(RTPERSON, text, BASE, attributes=["cn"])
    assert connection.result["description"] == "success"
    return len(connection.response) == 1


def look_up(connection: Any, email: str, *attributes: str) -> dict[str, list[bytes]]:
    connection.search(
        RTPERSON, f"(&({RTPERSON})(cn={email}))", BASE, attributes=list(attributes) or ["*"]
    )
    found = entries(connection)
    return found[0][1] if found else {}


def test_registered_user_is_found(netmeeting: Any, email: str) -> None:
    register(netmeeting, email)
    found = lowered(look_up(netmeeting, email, "cn", "sipaddress", "ilsA26279966", "comment"))
    assert found == {
        "cn": [email.encode()],
        "sipaddress": [b"1613317642"],
        "ilsa26279966": [b"67374395"],
        "comment": [b"counting"],
    }
    add(netmeeting, wire_dn(email), registration(email))
    assert netmeeting.result["description"] == "entryAlreadyExists"


def test_both_dns_of_a_user_belong_to_one_entry(netmeeting: Any, email: str) -> None:
    register(netmeeting, email)
    netmeeting.search(stored_dn(email), "(objectClass=*)", BASE, attributes=["sipaddress"])
    assert lowered(entries(netmeeting)[0][1]) == {"sipaddress": [b"1613317642"]}
    netmeeting.search("ou=Dynamic,o=Intranet", f"(cn={email})", SUBTREE, attributes=["objectClass"])
    ((dn, attributes),) = entries(netmeeting)
    assert dn == stored_dn(email)
    classes = {value.lower() for value in lowered(attributes)["objectclass"]}
    assert {b"rtperson", b"dynamicobject"} <= classes


def test_name_without_its_leading_parts_is_accepted(netmeeting: Any, email: str) -> None:
    add(netmeeting, f"cn={email},{RTPERSON}", registration(email))
    assert netmeeting.result["description"] == "success"
    assert look_up(netmeeting, email, "cn")


def test_application_is_announced_and_withdrawn(netmeeting: Any, email: str) -> None:
    register(netmeeting, email)
    changes = {name: [(MODIFY_REPLACE, values)] for name, values in APPLICATION.items()}
    netmeeting.modify(wire_dn(email), changes)
    assert netmeeting.result["description"] == "success", netmeeting.result
    text = f"(&({RTPERSON})(cn={email})(sappid=ms-netmeeting)(sprotid=h323))"
    netmeeting.search(RTPERSON, text, BASE, attributes=["sport"])
    assert lowered(entries(netmeeting)[0][1]) == {"sport": [b"1503", b"1720"]}


def test_attribute_alias_finds_and_returns_the_aliased_attribute(
    netmeeting: Any, email: str
) -> None:
    register(netmeeting, email)
    text = f"(&(cn={email})(ipAddress=1613317642))"
    netmeeting.search("ou=Dynamic,o=Intranet", text, SUBTREE, attributes=["ipAddress"])
    assert [list(each.values()) for _, each in entries(netmeeting)] == [[[b"1613317642"]]]


def test_attributes_are_returned_in_the_requested_order(netmeeting: Any, email: str) -> None:
    register(netmeeting, email)
    for order in (["sflags", "cn", "c", "surname"], ["surname", "c", "cn", "sflags"]):
        assert [name.lower() for name in look_up(netmeeting, email, *order)] == order


def test_percent_sign_is_a_wildcard_despite_base_scope(netmeeting: Any, email: str) -> None:
    other = next(_emails)
    register(netmeeting, email)
    register(netmeeting, other)
    for pattern, least in (("%", {email, other}), (f"{email[:-4]}%", {email})):
        netmeeting.search(RTPERSON, f"(&({RTPERSON})(cn={pattern}))", BASE, attributes=["cn"])
        listed = {cn.decode() for _, person in entries(netmeeting) for cn in person["cn"]}
        assert least <= listed
        assert pattern == "%" or listed == least


def test_sttl_of_a_registered_user_is_in_minutes_and_entry_ttl_in_seconds(
    netmeeting: Any, email: str
) -> None:
    assert not keep_online(netmeeting, email, 7)
    register(netmeeting, email)
    assert keep_online(netmeeting, email, 7)
    netmeeting.search(stored_dn(email), "(objectClass=*)", BASE, attributes=["sttl", "entryTTL"])
    found = lowered(entries(netmeeting)[0][1])
    assert found["sttl"] == [b"7"]
    assert 400 <= int(found["entryttl"][0]) <= 420


def test_latin_1_text_of_old_clients_is_accepted(netmeeting: Any, email: str) -> None:
    latin = "Zürich".encode("latin-1")
    register(netmeeting, email, location=[latin])
    assert lowered(look_up(netmeeting, email, "location")) == {"location": [latin]}


def test_unregistering_removes_the_user_under_both_dns(netmeeting: Any, email: str) -> None:
    register(netmeeting, email)
    netmeeting.delete(wire_dn(email))
    assert netmeeting.result["description"] == "success"
    assert not look_up(netmeeting, email, "cn")
    netmeeting.search(stored_dn(email), "(objectClass=*)", BASE)
    assert netmeeting.result["description"] == "noSuchObject"
    netmeeting.delete(wire_dn(email))
    assert netmeeting.result["description"] == "noSuchObject"


def test_tapi_clients_use_standard_dns_and_prefix_searches(
    ils: Served, clients: Clients, email: str
) -> None:
    tapi = clients.raw(ils, anonymous=True)
    attributes = {"objectClass": ["top", "RTPerson", "dynamicObject"], "sIPAddress": ["1"]}
    assert tapi.add(stored_dn(email), None, attributes), tapi.result
    tapi.search("ou=Dynamic,o=Intranet", f"(cn={email[:-2]}*)", SUBTREE, attributes=["cn"])
    assert [dn for dn, _ in entries(tapi)] == [stored_dn(email)]
    assert tapi.modify(stored_dn(email), {"entryTTL": [(MODIFY_REPLACE, ["90"])]}), tapi.result
    tapi.search(stored_dn(email), "(objectClass=*)", BASE, attributes=["entryTTL"])
    assert 85 <= int(lowered(entries(tapi)[0][1])["entryttl"][0]) <= 90
    assert tapi.modify(stored_dn(email), {"sPort": [(MODIFY_ADD, ["1720"])]})


@pytest.mark.long
def test_time_to_live_of_one_minute_ends_after_a_minute(ils: Served, clients: Clients) -> None:
    """One user expires after the minute, one is kept by a search, one by RFC 2589's refresh."""
    connection = clients.raw(ils, anonymous=True)
    leaves, searched, refreshed = (next(_emails) for _ in range(3))
    began = time.monotonic()
    for each in (leaves, searched, refreshed):
        register(connection, each)
        assert keep_online(connection, each, 1)
    time.sleep(40)
    assert keep_online(connection, searched, 1)
    body = stored_dn(refreshed).encode()
    request = b"\x80" + bytes([len(body)]) + body + b"\x81\x01\x3c"
    assert connection.extended(
        "1.3.6.1.4.1.1466.101.119.1", b"\x30" + bytes([len(request)]) + request
    ), connection.result
    time.sleep(max(0.0, began + 55 - time.monotonic()))
    for each in (leaves, searched, refreshed):
        assert look_up(connection, each, "cn"), f"{each} left before its minute was over"
    assert eventually(lambda: not look_up(connection, leaves, "cn"))
    assert not keep_online(connection, leaves, 1)
    assert look_up(connection, searched, "cn")
    assert look_up(connection, refreshed, "cn")


# Dynamic entries live exactly as long as their time to live (RFC 2589).

CLASSES = ["inetOrgPerson", "dynamicObject"]

# How long after its expiry an entry may still be visible: servers remove entries about once a
# second.
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
        # On a busy machine the request and the removal are late.
        assert asked < answered + 3 + 10
        time.sleep(0.05)
        asked = time.monotonic()
    # slapd counts in whole seconds and may therefore be one second early.
    assert time.monotonic() >= began + (3 if server.is_embedded else 2)
    connection.search(scratch, "(cn=Brief)")
    assert connection.response == []


def test_second_refresh_extends_the_time_to_live(
    server: Served, scratch: str, clients: Clients
) -> None:
    connection = clients.raw(server)
    dn = f"cn=Kept,{scratch}"
    assert connection.add(dn, CLASSES, {"sn": "x"})
    began = time.monotonic()
    assert refresh(connection, dn, 10)
    sleep_until(began + 1)
    assert refresh(connection, dn, 600)
    sleep_until(began + 10 + SWEPT_WITHIN_S)
    assert 500 <= ttl_s(connection, dn) <= 600


def test_entries_without_time_to_live_do_not_expire(
    server: Served, scratch: str, clients: Clients
) -> None:
    connection = clients.raw(server)
    dn = f"cn=Lasting,{scratch}"
    assert connection.add(dn, ["inetOrgPerson"], {"sn": "x"})
    assert not refresh(connection, dn, 1)
    time.sleep(1 + SWEPT_WITHIN_S)
    assert there(connection, dn)
    assert not connection.response[0]["raw_attributes"].get("entryTtl")


def test_name_of_an_expired_entry_can_be_added_again(
    server: Served, scratch: str, clients: Clients
) -> None:
    connection = clients.raw(server)
    dn = f"cn=Reborn,{scratch}"
    for _ in range(2):
        assert connection.add(dn, CLASSES, {"sn": "x"}), connection.result
        assert refresh(connection, dn, 1)
        assert eventually(lambda: not there(connection, dn))


@pytest.mark.parametrize("server", ["embedded"], indirect=True)
def test_modify_of_entry_ttl_sets_the_time_to_live(
    server: Served, scratch: str, clients: Clients
) -> None:
    """TAPI clients extend an entry's life this way; slapd accepts only the refresh operation."""
    connection = clients.raw(server)
    dn = f"cn=Tapi,{scratch}"
    assert connection.add(dn, CLASSES, {"sn": "x"})
    assert connection.modify(dn, {"entryTtl": [(MODIFY_REPLACE, ["2"])]}), connection.result
    assert ttl_s(connection, dn) <= 2
    assert eventually(lambda: not there(connection, dn))
