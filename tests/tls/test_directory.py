"""The directory over TLS, as used by OpenLDAP's tools and ldap3."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ldap3
import pytest
from ldap3.core.exceptions import LDAPExceptionError

from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.probe import server_of
from sitebench import errors
from sitebench.targets.tls import ServerTls, Trust
from tests.support.programs import required_program, run_program
from tests.support.waiting import eventually
from tests.tls.certificates import PASSWORD, Authority, Certificate

ANN = "cn=Ann\\, of the tests,ou=Dynamic,o=Intranet"
START_TLS = "1.3.6.1.4.1.1466.20037"


ADMIN = "cn=admin,o=Intranet"


@pytest.fixture
def ldaps() -> Iterator[LdapDirectory]:
    with LdapDirectory(20, tls=True, admin_dn=ADMIN, admin_password="s") as serving:
        yield serving


@pytest.fixture
def start_tls() -> Iterator[LdapDirectory]:
    with LdapDirectory(20, start_tls=True) as serving:
        yield serving


def tool(program: str, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run one of OpenLDAP's tools."""
    return run_program([str(required_program(program)), *argv], env={**os.environ, **env})


def trusting(ca: str | None, **more: Any) -> Trust:
    return Trust(None if ca is None else Path(ca).read_text(encoding="ascii"), **more)


@contextmanager
def connection(serving: LdapDirectory, trust: Trust, **more: Any) -> Iterator[Any]:
    address = parse_address(serving.url, start_tls=serving.start_tls)
    opened: Any = ldap3.Connection(server_of(address, trust, 5.0), **more)
    opened.open(read_server_info=False)
    try:
        if serving.start_tls:
            opened.start_tls(read_server_info=False)
        yield opened
    finally:
        opened.unbind()


def test_ldapsearch_finds_people_with_tls_and_without(
    start_tls: LdapDirectory, ldaps: LdapDirectory
) -> None:
    for serving, options, handshakes in (
        (ldaps, [], 1),
        (start_tls, ["-ZZ"], 1),
        (start_tls, [], 1),
    ):
        search = ("-x", "-H", serving.url, "-b", serving.base, "(objectClass=RTPerson)", "1.1")
        ran = tool("ldapsearch", *options, *search, LDAPTLS_CACERT=serving.ca or "")
        assert "numEntries: 20" in ran.stdout, ran
        assert serving.stats()["tls_handshakes"] == handshakes


def test_start_tls_is_refused_unless_enabled() -> None:
    with LdapDirectory(0) as serving:
        refused = tool("ldapsearch", "-x", "-ZZ", "-H", serving.url, "-b", "", "-s", "base")
    assert "StartTLS is not enabled" in refused.stderr, refused


def test_start_tls_over_tls_is_refused(ldaps: LdapDirectory) -> None:
    with connection(ldaps, trusting(ldaps.ca)) as asking:
        asking.extended(START_TLS)
        assert asking.result["description"] == "operationsError"


def test_ldap3_binds_searches_and_writes_over_tls(ldaps: LdapDirectory) -> None:
    with connection(ldaps, trusting(ldaps.ca), user=ADMIN, password="s") as writing:
        assert writing.bind()
        assert writing.add("ou=More,o=Intranet", "organizationalUnit")
        assert writing.search("o=Intranet", "(ou=More)")
        # More than one record, and more than one buffer.
        assert writing.search(ldaps.base, "(objectClass=RTPerson)", attributes=["*"])
        assert len(writing.entries) == 20


def test_client_without_trust_in_the_certificate_disconnects(ldaps: LdapDirectory) -> None:
    untrusted = tool("ldapsearch", "-x", "-H", ldaps.url, "-b", ldaps.base)
    assert untrusted.returncode != 0
    with (
        pytest.raises(LDAPExceptionError, match="CERTIFICATE_VERIFY_FAILED"),
        connection(ldaps, Trust()),
    ):
        pass


def test_plain_ldap_to_a_tls_port_fails_and_is_counted(ldaps: LdapDirectory) -> None:
    plain = tool("ldapsearch", "-x", "-H", ldaps.url.replace("ldaps", "ldap"), "-b", "")
    assert plain.returncode != 0
    assert eventually(lambda: ldaps.stats()["tls_failed"] == 1)


@pytest.fixture
def mutual(authority: Authority, server: Certificate) -> Iterator[LdapDirectory]:
    tls = ServerTls(server.cert, server.key, client_ca=authority.ca)
    with LdapDirectory(20, tls=tls) as serving:
        yield serving


def test_client_certificate_gives_the_identity_of_an_external_bind(
    mutual: LdapDirectory, authority: Authority, ann: Certificate
) -> None:
    said = tool(
        *("ldapwhoami", "-Y", "EXTERNAL", "-H", mutual.url),
        LDAPTLS_CACERT=authority.ca,
        LDAPTLS_CERT=ann.cert,
        LDAPTLS_KEY=ann.key,
    )
    assert said.stdout.strip() == f"dn:{ANN}", said


def sasl(mechanism: str, credentials: object) -> dict[str, Any]:
    return {
        "authentication": ldap3.SASL,
        "sasl_mechanism": mechanism,
        "sasl_credentials": credentials,
    }


def test_external_bind_needs_a_certificate_and_cannot_assume_another_identity(
    mutual: LdapDirectory, ldaps: LdapDirectory, authority: Authority, ann: Certificate
) -> None:
    shown = trusting(authority.ca, cert=ann.cert, key=ann.key)
    for serving, trust, identity, result in (
        (mutual, shown, "", "success"),
        (mutual, shown, f"dn:{ADMIN}", "invalidCredentials"),
        (ldaps, trusting(ldaps.ca), "", "inappropriateAuthentication"),
    ):
        with connection(serving, trust, **sasl("EXTERNAL", identity)) as asking:
            asking.bind()
            assert asking.result["description"] == result


def test_root_dse_lists_usable_sasl_mechanisms_and_start_tls(
    mutual: LdapDirectory,
    ldaps: LdapDirectory,
    start_tls: LdapDirectory,
    authority: Authority,
    ann: Certificate,
) -> None:
    shown = trusting(authority.ca, cert=ann.cert, key=ann.key)
    for serving, trust, mechanisms, offers_start_tls in (
        (mutual, shown, [b"PLAIN", b"EXTERNAL"], False),
        (ldaps, trusting(ldaps.ca), [b"PLAIN"], False),
        (start_tls, trusting(start_tls.ca), [b"PLAIN"], True),
    ):
        with connection(serving, trust) as asking:
            asking.bind()
            asking.search("", "(objectClass=*)", ldap3.BASE, attributes=["+"])
            values = asking.response[0]["raw_attributes"]
        assert values["supportedSASLMechanisms"] == mechanisms
        assert (START_TLS.encode() in values["supportedExtension"]) == offers_start_tls


def test_client_without_a_required_certificate_is_refused(
    mutual: LdapDirectory, authority: Authority
) -> None:
    refused = tool(
        *("ldapsearch", "-x", "-H", mutual.url, "-b", mutual.base), LDAPTLS_CACERT=authority.ca
    )
    assert refused.returncode != 0
    assert mutual.stats()["searches"] == 0


def test_sasl_plain_is_accepted_only_over_tls(ldaps: LdapDirectory) -> None:
    with LdapDirectory(0) as clear:
        for serving, name, password, result in (
            (ldaps, ADMIN, "s", "success"),
            (ldaps, f"dn:{ADMIN}", "s", "success"),
            (ldaps, ADMIN, "x", "invalidCredentials"),
            (ldaps, f"dn:{ADMIN}", "x", "invalidCredentials"),
            (clear, ADMIN, "s", "confidentialityRequired"),
        ):
            plain = sasl("PLAIN", (None, name, password))
            with connection(serving, trusting(serving.ca), **plain) as asking:
                asking.bind()
                assert asking.result["description"] == result


def test_key_is_opened_by_its_password_and_unreadable_certificates_are_named(
    authority: Authority, server: Certificate, tmp_path: Path
) -> None:
    locked = authority.locked(server)
    LdapDirectory(0, tls=ServerTls(locked.cert, locked.key, PASSWORD)).close()
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    for shown, said in (
        (ServerTls(server.cert), "a certificate and its key go together"),
        (ServerTls(str(empty), server.key), "holds none: no certificate found"),
        (ServerTls(str(tmp_path / "none.pem"), server.key), "cannot read the certificate"),
    ):
        with pytest.raises(errors.SitebenchError, match=said):
            LdapDirectory(0, tls=shown)
