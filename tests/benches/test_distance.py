"""A relay delays a server's answers without changing them."""

import time

from benches.distance import moved_away
from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.probe import connect, exists
from tests.ils_bench.conftest import LOCALES

ROUND_TRIP_S = 0.1


def test_emulated_distance_adds_a_round_trip_to_every_answer() -> None:
    with LdapDirectory(entries=10, locales=LOCALES) as directory:
        assert directory.people is not None
        with (
            moved_away(parse_address(directory.url), ROUND_TRIP_S) as address,
            connect(address) as connection,
        ):
            for i in range(3):
                began = time.monotonic()
                assert exists(connection, directory.people.dn(i))
                assert time.monotonic() - began >= ROUND_TRIP_S
