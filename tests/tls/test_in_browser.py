"""The site over https in a browser, which shows it only with a trusted certificate."""

from pathlib import Path

from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.seeders.upd import UpdSpec, visitors
from sitebench.targets.tls import ServerTls
from tests.support.browser import browsing
from tests.tls.certificates import Certificate

PEOPLE, PERSON = 50, 7
LOADED = "return [...document.images].filter(i => i.complete && i.naturalWidth > 0).length"


def test_browser_shows_page_and_form_over_https_only_with_trust(
    chromedriver: Path, server: Certificate, tmp_path: Path
) -> None:
    for each in ("stranger", "friend"):
        (tmp_path / each).mkdir()
    trusts = f"--ignore-certificate-errors-spki-list={server.pin()}"
    with PersonalizedSite(PEOPLE, tls=ServerTls(server.cert, server.key)) as site:
        person = visitors(UpdSpec(PEOPLE)).visitor(PERSON)
        with browsing(chromedriver, tmp_path / "stranger") as stranger:
            stranger.open(site.url)
            assert "ERR_CERT_AUTHORITY_INVALID" in stranger.text("body")
        with browsing(chromedriver, tmp_path / "friend", trusts) as browser:
            browser.open(f"{site.url}/enter?user={PERSON}")
            assert browser.run("return location.protocol + isSecureContext") == "https:true"
            assert browser.text("h1") == f"Hello, {person['given']}"
            assert browser.run(LOADED) == 4
            browser.run("document.getElementsByName('city')[0].value = 'Z\u00fcrich'")
            browser.submit("form button")
            browser.reload()
            assert browser.attribute("body", "data-city") == "Z\u00fcrich"
            assert browser.run("return location.protocol") == "https:"
            said = browser.complaints()
            assert [each for each in said if "favicon.ico" not in each] == []
        assert site.stats()["tls_failed"] >= 1
