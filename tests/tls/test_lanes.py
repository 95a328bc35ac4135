"""Lanes over TLS at foreign servers, and their failures without TLS."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from ils_bench.options import IlsOptions
from ils_bench.points import engine_config
from ils_bench.sequences import CONNECT, LOOKUP
from ils_bench.targets.address import START_TLS, DirectoryAddress, parse_address
from ils_bench.targets.identity import ANONYMOUS, Identity
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.live import count_seeded, seed
from ils_bench.targets.probe import probe
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Engine
from sitebench.errors import SitebenchError
from sitebench.scenario.script import Script
from sitebench.seeders.people import Spec, generate
from sitebench.suite_base.points import Load
from sitebench.system.network import free_port
from sitebench.targets.tls import ServerTls, Trust, key_password
from tests.support.waiting import left_s
from tests.tls.certificates import PASSWORD, Authority, Certificate, self_signed
from tests.tls.targets import Slapd, slapd

PEOPLE = Spec(50, 1997, "paper", ("en_US",), "ou=Dynamic,o=Intranet")
LANES = 4
DONE = 20


def ran(
    address: DirectoryAddress, trust: Trust, sequence: Script = LOOKUP, who: Identity = ANONYMOUS
) -> tuple[int, Counter[str]]:
    """Run lanes until enough operations have ended; return their number and all failures."""
    options = IlsOptions(entries=PEOPLE.size, locales=PEOPLE.locales, threads=1)
    target = OpenDirectory("foreign", address, options.base, who, trust=trust)
    config = engine_config(Load(options, target, [sequence], first_added=1_000))
    engine = Engine(config, generate(PEOPLE).population)
    ended, failures = 0, Counter[str]()
    give_up = time.monotonic() + left_s()
    try:
        engine.start_lanes(sequence.name, LANES)
        while ended < DONE and not failures:
            assert time.monotonic() < give_up, "nothing ends"
            time.sleep(0.02)
            for step in engine.drain().steps:
                ended += step.count if step.step == sequence.counts else 0
                if step.step != "sequence":
                    failures.update(step.failures)
    finally:
        engine.stop(5.0)
    return ended, failures


@pytest.fixture(scope="module")
def openldap(tmp_path_factory: pytest.TempPathFactory, server: Certificate) -> Iterator[Slapd]:
    folder = tmp_path_factory.mktemp("slapd") / "one"
    with slapd(folder, PEOPLE, ServerTls(server.cert, server.key)) as ports:
        yield ports


@pytest.fixture
def trust(authority: Authority) -> Trust:
    return Trust(_read(authority.ca))


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii")


def ways(openldap: Slapd) -> tuple[DirectoryAddress, DirectoryAddress]:
    return (
        DirectoryAddress("127.0.0.1", openldap.secure, "ldaps"),
        DirectoryAddress("127.0.0.1", openldap.plain, START_TLS),
    )


def test_lanes_look_up_people_in_slapd_over_tls(openldap: Slapd, trust: Trust) -> None:
    for address in ways(openldap):
        ended, failures = ran(address, trust)
        assert ended >= DONE
        assert not failures


def test_people_are_added_to_slapd_over_tls(openldap: Slapd, trust: Trust) -> None:
    for n, address in enumerate(ways(openldap)):
        more = Spec(PEOPLE.size + 300 * (n + 1), 1997, "paper", ("en_US",), PEOPLE.base)
        target = OpenDirectory("slapd", address, PEOPLE.base, trust=trust)
        seed(target, more, lambda done, total: None, keep=True)
        assert count_seeded(target, generate(more).population) == more.size


def test_certificate_of_an_untrusted_authority_is_refused(openldap: Slapd) -> None:
    for address in ways(openldap):
        ended, failures = ran(address, Trust())
        assert ended == 0
        assert set(failures) == {"tls:untrusted"}


def test_insecure_client_accepts_any_certificate(openldap: Slapd) -> None:
    ended, failures = ran(ways(openldap)[0], Trust(insecure=True))
    assert ended >= DONE
    assert not failures


@contextmanager
def shown(certificate: Certificate, **more: Any) -> Iterator[DirectoryAddress]:
    """Yield the address of a directory with this certificate."""
    tls = ServerTls(certificate.cert, certificate.key, **more)
    spec = {"seed": PEOPLE.seed, "locales": PEOPLE.locales}
    with LdapDirectory(PEOPLE.size, tls=tls, **spec) as serving:  # type: ignore[arg-type]
        yield parse_address(serving.url)


def test_certificate_for_another_name_is_refused(authority: Authority, trust: Trust) -> None:
    with shown(authority.sign("other", names="DNS:other.example")) as address:
        assert set(ran(address, trust)[1]) == {"tls:wrong-name"}


NAMES = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")


@pytest.mark.parametrize("more", [(), ("-addext", "basicConstraints=critical,CA:FALSE")])
def test_self_signed_certificate_given_as_authority_is_trusted(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    made = self_signed(tmp_path, "own", *NAMES, *more)
    trust = Trust(_read(made.cert))
    with shown(made) as address:
        probe(address, PEOPLE.base, trust=trust)
        ended, failures = ran(address, trust)
    assert ended >= DONE
    assert not failures


def test_certificate_that_is_trusted_itself_needs_no_authority(authority: Authority) -> None:
    made = authority.sign("leaf")
    with shown(made) as address:
        probe(address, PEOPLE.base, trust=Trust(_read(made.cert)))
        assert not ran(address, Trust(_read(made.cert)))[1]


def test_probe_and_lanes_ignore_the_common_name(tmp_path: Path) -> None:
    made = self_signed(tmp_path, "nameless")
    trust = Trust(_read(made.cert))
    with shown(made) as address:
        with pytest.raises(SitebenchError, match="a common name alone does not count"):
            probe(replace(address, host="localhost"), PEOPLE.base, trust=trust)
        assert set(ran(address, trust)[1]) == {"tls:wrong-name"}


def test_self_signed_certificate_not_given_as_authority_is_reported(
    tmp_path: Path, trust: Trust
) -> None:
    with shown(self_signed(tmp_path, "own", *NAMES)) as address:
        assert set(ran(address, trust)[1]) == {"tls:is-authority"}


def test_expired_certificate_is_refused(authority: Authority, trust: Trust) -> None:
    with shown(authority.sign("ended", days=-1)) as address:
        assert set(ran(address, trust)[1]) == {"tls:expired"}


def test_required_client_certificate_is_reported(
    authority: Authority, server: Certificate, ann: Certificate, trust: Trust
) -> None:
    with shown(server, client_ca=authority.ca) as address:
        ended, failures = ran(address, trust)
        assert ended == 0
        assert "tls:certificate-wanted" in failures
        locked = authority.locked(ann)
        file = locked.key + ".password"
        Path(file).write_text(PASSWORD, encoding="ascii")
        assert key_password(file) == PASSWORD
        known = Trust(trust.ca_pem, cert=locked.cert, key=locked.key, key_password_file=file)
        ended, failures = ran(address, known)
        assert ended >= DONE
        assert not failures


def test_slapd_maps_the_client_certificate_to_its_dn(
    authority: Authority, server: Certificate, ann: Certificate, trust: Trust, tmp_path: Path
) -> None:
    external = Identity(sasl="external")
    shown_by_it = ServerTls(server.cert, server.key, client_ca=authority.ca)
    known = structs.replace(trust, cert=ann.cert, key=ann.key)
    with slapd(tmp_path / "slapd", PEOPLE, shown_by_it) as ports:
        for address in ways(ports):
            ended, failures = ran(address, known, who=external)
            assert ended >= DONE
            assert not failures
    with shown(server) as address:
        failures = ran(address, trust, who=external)[1]
        assert "result:inappropriateAuthentication" in failures


def test_server_without_tls_is_reported(trust: Trust) -> None:
    with LdapDirectory(1) as serving:
        port = serving.port
        assert set(ran(DirectoryAddress("127.0.0.1", port, "ldaps"), trust)[1]) == {"tls:not-tls"}
        refused = ran(DirectoryAddress("127.0.0.1", port, START_TLS), trust)[1]
        assert set(refused) == {"result:protocolError"}


def test_closed_port_is_reported_as_a_refused_connect(trust: Trust) -> None:
    failures = ran(DirectoryAddress("127.0.0.1", free_port(), "ldaps"), trust)[1]
    assert set(failures) == {"connect-refused"}


@pytest.mark.parametrize("resume", [True, False])
def test_sessions_are_resumed_only_if_configured(resume: bool) -> None:
    spec = {"seed": PEOPLE.seed, "locales": PEOPLE.locales}
    with LdapDirectory(PEOPLE.size, tls=True, **spec) as serving:  # type: ignore[arg-type]
        trust = Trust(_read(str(serving.ca)), resume=resume)
        ended, failures = ran(parse_address(serving.url), trust, CONNECT)
        stats = serving.stats()
    assert ended >= DONE
    assert not failures
    # The first connections of each lane have no session to resume.
    assert stats["tls_resumed"] >= ended - 2 * LANES if resume else stats["tls_resumed"] == 0
    assert stats["tls_handshakes"] >= ended


def test_invalid_certificate_files_are_named(
    authority: Authority, server: Certificate, ann: Certificate
) -> None:
    address = DirectoryAddress("127.0.0.1", free_port(), "ldaps")
    for trust, said in (
        (Trust("nothing"), "holds none: no certificate found"),
        (Trust(_read(authority.ca), cert=server.cert, key=ann.key), "is not that of the"),
        (Trust(_read(authority.ca), cert=server.cert), "go together"),
    ):
        with pytest.raises(Exception, match=said):
            ran(address, trust)


def test_trust_sent_to_a_process_contains_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(PASSWORD)
    trust = Trust(key_password_file=str(file))
    assert PASSWORD not in json.dumps(structs.asdict(trust))
    assert PASSWORD not in repr(trust)
