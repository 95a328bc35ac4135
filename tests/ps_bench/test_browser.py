"""The page in a browser with only a cookie, as a person sees it."""

from pathlib import Path

from sitebench.http.site import OpenSite
from sitebench.seeders.upd import UpdSpec, visitors
from tests.ps_bench.conftest import LOCALES, PEOPLE
from tests.support.browser import Browser, browsing

PERSON = 7


def choose(browser: Browser, name: str, value: str) -> None:
    """Set a field of the form as its picker would; the picker itself belongs to the system."""
    browser.run(
        "const field = document.getElementsByName(arguments[0])[0];"
        "field.value = arguments[1]; field.dispatchEvent(new Event('change'));",
        name,
        value,
    )


def test_two_preferences_are_changed_in_the_browser(
    chromedriver: Path, site: OpenSite, tmp_path: Path
) -> None:
    person = visitors(UpdSpec(PEOPLE, locales=LOCALES)).visitor(PERSON)
    with browsing(chromedriver, tmp_path) as browser:
        browser.open(f"{site.address}/enter?user={PERSON}")
        assert browser.text("h1") == f"Hello, {person['given']}"
        assert browser.attribute("body", "data-user") == str(PERSON)
        assert browser.attribute("body", "data-background") == person["background"]
        loaded = "return [...document.images].filter(i => i.complete && i.naturalWidth > 0).length"
        assert browser.run(loaded) == 4
        browser.screenshot(tmp_path / "before.png")

        choose(browser, "background", "#c0ffee")
        choose(browser, "city", "Zürich & <Umgebung>")
        browser.submit("form button")
        # The form is answered with a redirect to the page, so a reload sends no form again.
        browser.reload()

        assert browser.attribute("body", "data-background") == "#c0ffee"
        assert browser.attribute("body", "data-city") == "Zürich & <Umgebung>"
        assert browser.attribute("body", "data-accent") == person["accent"]
        assert browser.text("h1") == f"Hello, {person['given']}"
        ground = "return getComputedStyle(document.body).backgroundColor"
        assert browser.run(ground) == "rgb(192, 255, 238)"
        browser.screenshot(tmp_path / "after.png")
    assert (tmp_path / "after.png").stat().st_size > 10_000


def test_new_user_registers_and_gets_a_page(
    chromedriver: Path, site: OpenSite, tmp_path: Path
) -> None:
    with browsing(chromedriver, tmp_path) as browser:
        browser.open(str(site.address))
        assert browser.text("h1") == "Welcome"
        choose(browser, "name", "Ada Lovelace")
        browser.submit("form[action='/users'] button")
        browser.open(str(site.address))
        assert browser.text("h1") == "Hello, Ada"
        assert int(browser.attribute("body", "data-user")) >= PEOPLE
