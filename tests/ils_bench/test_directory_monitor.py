"""Statistics of slapd, compared with the requests that were sent to it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import ldap3
import pytest

from ils_bench.options import IlsOptions
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.identity import Identity
from ils_bench.targets.live import open_live
from ils_bench.targets.monitor import DirectoryMonitor
from ils_bench.targets.opening import open_target
from ils_bench.targets.target import OpenDirectory
from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from tests.conformance.served import Served
from tests.conformance.slapd import running_slapd
from tests.ils_bench.conftest import LOCALES
from tests.support.cli import in_process
from tests.support.waiting import eventually, left_s

SEARCHES = 100
OWN = 5
"""The number of searches of one reading."""


def opened(served: Served, dn: str | None = None, password: str | None = None) -> OpenDirectory:
    address = DirectoryAddress(served.host, served.port)
    return OpenDirectory("slapd", address, served.suffix, Identity(dn, password))


@pytest.fixture(scope="module")
def slapd_there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A slapd whose cn=Monitor only its administrator may read."""
    with running_slapd(tmp_path_factory.mktemp("slapd") / "monitored") as served:
        yield served


@pytest.fixture
def probe(slapd_there: Served) -> Iterator[DirectoryMonitor]:
    target = opened(slapd_there, slapd_there.admin_dn, slapd_there.admin_password)
    made = DirectoryMonitor(target)
    yield made
    made.close()


def _search(served: Served, times: int) -> None:
    server = ldap3.Server(served.host, served.port, get_info=ldap3.NONE)
    with ldap3.Connection(server) as connection:
        for _ in range(times):
            connection.search("", "(objectClass=*)", ldap3.BASE)


def test_monitor_counts_every_search_including_its_own(
    probe: DirectoryMonitor, slapd_there: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a short timeout, because a slapd without a core sometimes needs seconds.
    monkeypatch.setattr("ils_bench.targets.monitor._TIMEOUT_S", left_s())
    readings: list[Mapping[str, float]] = []

    def by_others() -> float:
        """Read again; return slapd's count since its start, without the searches of readings."""
        found = probe.read()
        assert found is not None
        readings.append(found)
        return found["search_completed_total"] - OWN * len(readings)

    # slapd counts a search after its answer: sometimes one is missing, never one too many.
    before = max(by_others() for _ in range(3))
    _search(slapd_there, SEARCHES)
    assert eventually(lambda: by_others() - before >= SEARCHES)
    assert max(by_others() for _ in range(3)) - before == SEARCHES
    first, last = readings[2], readings[-1]
    assert last["connections_total"] == first["connections_total"] + 1
    assert last["bytes_total"] > first["bytes_total"]
    assert last["entries_total"] > first["entries_total"] + SEARCHES


def test_connections_and_threads_are_counted(probe: DirectoryMonitor, slapd_there: Served) -> None:
    server = ldap3.Server(slapd_there.host, slapd_there.port, get_info=ldap3.NONE)

    def connections() -> float | None:
        reading = probe.read()
        return reading["connections"] if reading else None

    # Connections of earlier tests end when slapd has noticed their close.
    assert eventually(lambda: connections() == 1)
    alone = probe.read()
    with ldap3.Connection(server):
        together = probe.read()
    assert alone is not None
    assert together is not None
    assert together["connections"] == alone["connections"] + 1
    assert together["threads_max"] == 16
    assert together["operations_initiated_total"] > together["operations_completed_total"]


@pytest.mark.parametrize("password", [None, "wrong"])
def test_monitor_without_read_access_stops_after_an_empty_answer(
    slapd_there: Served, password: str | None
) -> None:
    target = opened(slapd_there, slapd_there.admin_dn if password else None, password)
    monitor = Monitor(None, probe=DirectoryMonitor(target))
    start = monitor.sample()
    monitor.close()
    assert start.directory is None
    assert start.answers == ()


def test_stop_of_the_directory_is_recorded_as_a_gap_of_the_monitor(tmp_path: Path) -> None:
    with running_slapd(tmp_path / "ending") as served:
        target = opened(served, served.admin_dn, served.admin_password)
        monitor = Monitor(None, probe=DirectoryMonitor(target))
        start = monitor.sample()
        assert start.directory is not None
    try:
        assert eventually(lambda: monitor.sample().answers[0].missing > 0)
        (gap,) = use_between(start, monitor.sample(), 1.0).gaps
    finally:
        monitor.close()
    assert gap.source == f"cn=Monitor of ldap://127.0.0.1:{served.port}"
    assert gap.reason


RUN = (
    *("ils", "run", "lookup", "--entries", "200", "--locales", "en_US", "--users", "4"),
    *("--rate", "500", "--warmup", "500ms", "--measure", "2500ms", "--json"),
)


def test_point_stores_the_monitor_counters_of_slapd() -> None:
    (point,) = in_process(*RUN, "--target", "openldap").objects
    said = point["resources"]["directory"]
    # slapd's count begins before the window and ends before its end; the engine counts the window.
    assert said["search_completed_total"] > 0
    assert said["search_completed_total"] < 5 * point["operations"]
    assert said["connections"] >= 4
    # A slow slapd causes a gap, but the window has a reading at its begin and its end.
    assert all(gap["missing"] < gap["asked"] for gap in point["resources"]["gaps"])


# Facts about a directory in the manifest: version and configuration, if the directory shows them.


def test_manifest_has_version_and_configuration_of_slapd(openldap: OpenDirectory) -> None:
    assert openldap.facts["version"].startswith("OpenLDAP: slapd 2.")
    lines = openldap.facts["configuration"].splitlines()
    assert "dbnosync" in lines
    assert 'directory ".../db"' in lines, "a folder that is another one each time is no fact"


def test_manifest_has_settings_of_the_embedded_directory() -> None:
    with open_target(IlsOptions(entries=100, locales=LOCALES, target_threads=2), 100) as target:
        assert target.facts["version"].startswith("sitebench ")
        assert target.facts["configuration"]["threads"] == 2
        assert "port" not in target.facts["configuration"]


def test_manifest_has_the_facts_of_a_foreign_directorys_root_dse(openldap: OpenDirectory) -> None:
    options = IlsOptions(target=str(openldap.address), base=openldap.base)
    facts = open_live(options).facts
    assert "3" in facts["supportedLDAPVersion"].split(", ")
    assert "OpenLDAProotDSE" in facts["objectClass"]
