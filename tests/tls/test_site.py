"""The site over https, as used by Python and curl, and lanes at nginx."""

import ssl
import subprocess
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from benches import nginx
from benches.ps import static
from ps_bench.operations import PAGE_BYTES, built_in
from ps_bench.options import PsOptions
from ps_bench.points import engine_config
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench._engine import Engine
from sitebench.errors import TlsFailed
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.site import OpenSite, probe
from sitebench.scenario.script import Script
from sitebench.seeders.upd import UpdSpec, visitors
from sitebench.suite_base.points import Load
from sitebench.targets.tls import ServerTls, Trust
from tests.support.cli import in_process
from tests.support.programs import required_program
from tests.support.waiting import left_s
from tests.tls.certificates import Authority, Certificate
from tests.tls.targets import failures_of
from tests.tls.test_cli import SHORT

PEOPLE = 50
DONE = 40


def ran(address: SiteAddress, trust: Trust, scenario: Script) -> Counter[str]:
    """Run lanes until enough passes have ended; return their failures by kind."""
    options, people = PsOptions(entries=PEOPLE, threads=1), visitors(UpdSpec(PEOPLE))
    config = engine_config(Load(options, OpenSite("site", address, trust=trust), [scenario]))
    return failures_of(Engine(config, people), scenario, lanes=4, operations=DONE)


def test_python_and_curl_read_pages_over_https(tmp_path: Path) -> None:
    with PersonalizedSite(PEOPLE, tls=True) as site:
        assert site.url.startswith("https://")
        context = ssl.create_default_context(cafile=site.ca)
        asked = urllib.request.Request(f"{site.url}/", headers={"Cookie": "user=7"})
        with urllib.request.urlopen(asked, context=context, timeout=20) as page:
            assert len(page.read()) == PAGE_BYTES
        said = subprocess.run(
            [str(required_program("curl")), "-sS", "--cacert", str(site.ca), f"{site.url}/image/0"],
            capture_output=True,
            check=False,
            timeout=left_s(),
        )
        assert said.returncode == 0, said.stderr
        stats = site.stats()
        assert stats["tls_handshakes"] == 2


@pytest.mark.parametrize("keepalive", [True, False])
def test_pages_over_tls_are_right_on_persistent_and_resumed_connections(keepalive: bool) -> None:
    with PersonalizedSite(PEOPLE, tls=True) as site:
        trust = Trust(Path(str(site.ca)).read_text(encoding="ascii"), resume=True)
        assert not ran(parse_address(site.url), trust, built_in("page", keepalive=keepalive))
        stats = site.stats()
    assert stats["tls_handshakes"] >= (1 if keepalive else DONE)
    assert (stats["tls_resumed"] > 0) is not keepalive


def test_lanes_read_files_of_nginx_over_tls(authority: Authority, server: Certificate) -> None:
    trust = Trust(Path(authority.ca).read_text(encoding="ascii"))
    with nginx.serving(b"x" * PAGE_BYTES, ServerTls(server.cert, server.key)) as started:
        address = started.secure
        assert address is not None
        for keepalive in (True, False):
            assert not ran(address, trust, static(keepalive=keepalive))
        assert set(ran(address, Trust(), static())) == {"tls:untrusted"}


def test_nginx_accepts_a_client_certificate(
    authority: Authority, server: Certificate, ann: Certificate
) -> None:
    trust = Trust(Path(authority.ca).read_text(encoding="ascii"), cert=ann.cert, key=ann.key)
    shown = ServerTls(server.cert, server.key, client_ca=authority.ca)
    with nginx.serving(b"x" * PAGE_BYTES, shown) as started:
        assert started.secure is not None
        assert not ran(started.secure, trust, static(keepalive=True))


def test_site_requires_and_accepts_a_client_certificate(
    authority: Authority, server: Certificate, ann: Certificate
) -> None:
    trust = Trust(Path(authority.ca).read_text(encoding="ascii"))
    known = replace(trust, cert=ann.cert, key=ann.key)
    with PersonalizedSite(
        PEOPLE, tls=ServerTls(server.cert, server.key, client_ca=authority.ca)
    ) as site:
        address = parse_address(site.url)
        assert "tls:certificate-wanted" in ran(address, trust, built_in("page"))
        assert site.stats()["pages"] == 0
        assert not ran(address, known, built_in("page"))
        run = ("ps", "run", "page", "--entries", str(PEOPLE), *SHORT)
        asked = (*run, "--target", site.url, "--tls-ca", authority.ca)
        in_process(*asked).refuse(1, "requires a client certificate", "--tls-cert")
        done = in_process(*asked, "--tls-cert", ann.cert, "--tls-key", ann.key)
    assert done.code == 0, done.err
    assert done.objects[0]["failures"] == 0
    assert done.objects[0]["operations"] > 0


def test_wrong_scheme_or_trust_is_answered_with_the_remedy() -> None:
    with PersonalizedSite(PEOPLE, tls=True) as secure, PersonalizedSite(PEOPLE) as plain:
        with pytest.raises(urllib.error.HTTPError, match="400") as refused:
            urllib.request.urlopen(secure.url.replace("https", "http"), timeout=20)
        with refused.value as answer:
            assert "https://" in answer.read().decode()
        with pytest.raises(TlsFailed, match="not signed by a trusted authority"):
            probe(parse_address(secure.url))
        with pytest.raises(TlsFailed, match="does not use TLS on this port"):
            probe(parse_address(plain.url.replace("http", "https")))
