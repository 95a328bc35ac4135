"""Lanes, seeding and probes that bind with SASL: EXTERNAL by certificate, PLAIN by password."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.runs.runfile import RunFile
from sitebench.targets.tls import ServerTls
from tests.support.cli import in_process
from tests.tls.certificates import Authority, Certificate
from tests.tls.test_directory import ANN

PEOPLE = ("--entries", "50", "--locales", "en_US")
SHORT = (
    *("--users", "2", "--threads", "1", "--think", "10ms"),
    *("--warmup", "0s", "--measure", "500ms", "--json"),
)


@pytest.fixture
def mutual(authority: Authority, server: Certificate) -> Iterator[LdapDirectory]:
    """A directory in which only Ann has access."""
    tls = ServerTls(server.cert, server.key, client_ca=authority.ca)
    rules = {"admin_dn": ANN, "admin_password": "s3same", "require_bind": True}
    with LdapDirectory(0, tls=tls, locales=("en_US",), **rules) as serving:  # type: ignore[arg-type]
        yield serving


@pytest.mark.parametrize("mechanism", ["external", "plain"])
def test_write_access_works_with_either_sasl_mechanism(
    mechanism: str, mutual: LdapDirectory, authority: Authority, ann: Certificate, tmp_path: Path
) -> None:
    shown = ("--tls-ca", authority.ca, "--tls-cert", ann.cert, "--tls-key", ann.key)
    password = tmp_path / "password"
    password.write_text("s3same\n")
    known = ("--bind-dn", ANN, "--password-file", str(password)) if mechanism == "plain" else ()
    target = ("--target", mutual.url, *shown, *PEOPLE)
    sasl = ("--sasl", mechanism, *known)
    assert in_process("ils", "seed", *target).code != 0, "nobody else may"
    in_process("ils", "seed", *target, *sasl).check(0)
    for client in ("native", "ldap3"):
        out = tmp_path / f"{client}.sitebench"
        ran = in_process(
            *("ils", "run", "add", *target, *sasl, *SHORT, "--client", client, "--out", str(out))
        ).check(0)
        assert ran.objects[0]["operations"] > 0
        assert ran.objects[0]["failures"] == 0
        with RunFile(out) as run:
            assert run.points()[0].spec.settings["sasl"] == mechanism
    assert mutual.stats()["entries"] < 60, "what was added is removed"


def test_each_invalid_sasl_option_is_refused_in_one_line_with_a_remedy(ann: Certificate) -> None:
    asked = ("ils", "run", "lookup", "--sasl")
    secure = ("--target", "ldaps://127.0.0.1:1")
    for argv, *said in (
        (("plain", "--target", "ldap://127.0.0.1:1"), "needs TLS", "--start-tls"),
        (("external", *secure), "needs a client certificate", "--tls-cert"),
        (
            ("external", *secure, "--tls-cert", ann.cert, "--tls-key", ann.key, "--bind-dn", ANN),
            "leave out one",
        ),
        (("plain", *secure), "needs a DN", "--bind-dn"),
    ):
        in_process(*asked, *argv).refuse(2, *said)
