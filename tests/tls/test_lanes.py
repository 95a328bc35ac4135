"""Lanes over TLS at foreign servers, and their failures without TLS."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

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
from tests.tls.certificates import PASSWORD, Authority, Certificate, self_signed
from tests.tls.targets import Slapd, failures_of, slapd

PEOPLE = Spec(50, 1997, "paper", ("en_US",), "ou=Dynamic,o=Intranet")
LANES = 4
DONE = 20


def ran(
    address: DirectoryAddress, trust: Trust, sequence: Script = LOOKUP, who: Identity = ANONYMOUS
) -> Counter[str]:
    """Run lanes until enough operations have ended; return their failures by kind."""
    options = IlsOptions(entries=PEOPLE.size, locales=PEOPLE.locales, threads=1)
    target = OpenDirectory("foreign", address, options.base, who, trust=trust)
    config = engine_config(Load(options, target, [sequence], first_added=1_000))
    return failures_of(Engine(config, generate(PEOPLE).population), sequence, LANES, DONE)


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


def test_lanes_look_up_people_in_slapd_over_tls_only_with_trust(
    openldap: Slapd, trust: Trust
) -> None:
    for address in ways(openldap):
        assert not ran(address, trust)
        assert set(ran(address, Trust())) == {"tls:untrusted"}
    assert not ran(ways(openldap)[0], Trust(insecure=True))


def test_people_are_added_to_slapd_over_tls(openldap: Slapd, trust: Trust) -> None:
    for n, address in enumerate(ways(openldap)):
        more = Spec(PEOPLE.size + 300 * (n + 1), 1997, "paper", ("en_US",), PEOPLE.base)
        target = OpenDirectory("slapd", address, PEOPLE.base, trust=trust)
        seed(target, more, lambda done, total: None, keep=True)
        assert count_seeded(target, generate(more).population) == more.size


def serving(tls: ServerTls | bool) -> LdapDirectory:
    return LdapDirectory(PEOPLE.size, tls=tls, seed=PEOPLE.seed, locales=PEOPLE.locales)


@contextmanager
def shown(certificate: Certificate, **more: Any) -> Iterator[DirectoryAddress]:
    """Yield the address of a directory with this certificate."""
    with serving(ServerTls(certificate.cert, certificate.key, **more)) as directory:
        yield parse_address(directory.url)


NAMES = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")


def test_invalid_server_certificate_has_its_failure_kind(
    authority: Authority, trust: Trust, tmp_path: Path
) -> None:
    for certificate, kind in (
        (authority.sign("other", names="DNS:other.example"), "tls:wrong-name"),
        (authority.sign("ended", days=-1), "tls:expired"),
        (self_signed(tmp_path, "own", *NAMES), "tls:is-authority"),
    ):
        with shown(certificate) as address:
            assert set(ran(address, trust)) == {kind}


def test_certificate_that_is_trusted_itself_needs_no_authority(
    authority: Authority, tmp_path: Path
) -> None:
    for certificate in (
        self_signed(tmp_path, "own", *NAMES),
        self_signed(tmp_path, "leaf", *NAMES, "-addext", "basicConstraints=critical,CA:FALSE"),
        authority.sign("leaf"),
    ):
        trust = Trust(_read(certificate.cert))
        with shown(certificate) as address:
            probe(address, PEOPLE.base, trust=trust)
            assert not ran(address, trust)


def test_probe_and_lanes_ignore_the_common_name(tmp_path: Path) -> None:
    made = self_signed(tmp_path, "nameless")
    trust = Trust(_read(made.cert))
    with shown(made) as address:
        with pytest.raises(SitebenchError, match="a common name alone does not count"):
            probe(replace(address, host="localhost"), PEOPLE.base, trust=trust)
        assert set(ran(address, trust)) == {"tls:wrong-name"}


def test_required_client_certificate_is_reported(
    authority: Authority, server: Certificate, ann: Certificate, trust: Trust
) -> None:
    with shown(server, client_ca=authority.ca) as address:
        assert "tls:certificate-wanted" in ran(address, trust)
        locked = authority.locked(ann)
        file = locked.key + ".password"
        Path(file).write_text(PASSWORD, encoding="ascii")
        assert key_password(file) == PASSWORD
        known = Trust(trust.ca_pem, cert=locked.cert, key=locked.key, key_password_file=file)
        assert not ran(address, known)


def test_slapd_maps_the_client_certificate_to_its_dn(
    authority: Authority, server: Certificate, ann: Certificate, trust: Trust, tmp_path: Path
) -> None:
    external = Identity(sasl="external")
    shown_by_it = ServerTls(server.cert, server.key, client_ca=authority.ca)
    known = replace(trust, cert=ann.cert, key=ann.key)
    with slapd(tmp_path / "slapd", PEOPLE, shown_by_it) as ports:
        for address in ways(ports):
            assert not ran(address, known, who=external)
    with shown(server) as address:
        assert "result:inappropriateAuthentication" in ran(address, trust, who=external)


def test_server_without_tls_and_closed_port_are_reported(trust: Trust) -> None:
    with LdapDirectory(1) as directory:
        for port, scheme, kind in (
            (directory.port, "ldaps", "tls:not-tls"),
            (directory.port, START_TLS, "result:protocolError"),
            (free_port(), "ldaps", "connect-refused"),
        ):
            assert set(ran(DirectoryAddress("127.0.0.1", port, scheme), trust)) == {kind}


@pytest.mark.parametrize("resume", [True, False])
def test_sessions_are_resumed_only_if_configured(resume: bool) -> None:
    with serving(tls=True) as directory:
        trust = Trust(_read(str(directory.ca)), resume=resume)
        assert not ran(parse_address(directory.url), trust, CONNECT)
        stats = directory.stats()
    assert stats["tls_handshakes"] >= DONE
    # The first connections of each lane have no session to resume.
    resumed_at_least = stats["tls_handshakes"] - 2 * LANES
    assert stats["tls_resumed"] >= resumed_at_least if resume else stats["tls_resumed"] == 0


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
    assert PASSWORD not in json.dumps(asdict(trust))
    assert PASSWORD not in repr(trust)
