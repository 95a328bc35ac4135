"""Access to the web UI: only its own pages, with the printed token."""

import http.cookiejar
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.system.network import free_port
from tests.locustfiles.conftest import LOCUSTFILE
from tests.support.locusts import FORKED_UI, run_locust
from tests.support.screen import Screen, screen_of
from tests.support.ui_address import UiAddress
from tests.support.web_page import web_ui

pytestmark = pytest.mark.timeout(180)
FEW = ("--entries", "10", "--locales", "en_US", "--rate", "10")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UiAddress]:
    with web_ui(tmp_path_factory.mktemp("ui"), "ils", *FEW) as (_, root):
        yield root


@pytest.mark.parametrize(
    ("path", "who"), [("/", "none"), ("/sitebench/run", "none"), ("/sitebench/live", "self")]
)
def test_pages_forbid_frames_of_other_origins(root: UiAddress, path: str, who: str) -> None:
    _, headers, _ = root.answer(path)
    assert f"frame-ancestors '{who}'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == {"none": "DENY", "self": "SAMEORIGIN"}[who]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("dest", ["iframe", "image", "empty", "object", "document"])
def test_other_sites_may_only_link_to_the_page(root: UiAddress, site: str, dest: str) -> None:
    there = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": dest}
    assert root.answer("/", None, **there)[0] == (200 if dest == "document" else 403)
    assert root.answer("/stop", b"", **there)[0] == 403


@pytest.mark.parametrize("path", ["/swarm", "/stop", "/stats/reset", "/user"])
def test_changes_by_get_requests_are_refused(root: UiAddress, path: str) -> None:
    assert root.answer(path)[0] == 405


@pytest.mark.parametrize(
    "more", [{"sequence": 1}, {"abstract": True}, {"__init__": None}, [["x"]], 5]
)
def test_request_can_change_only_the_numbers_of_a_user_class(root: UiAddress, more: Any) -> None:
    numbers = {"user_class_name": "LookupUser", "weight": 1}
    changes = numbers | more if isinstance(more, dict) else more
    for body, status in ((numbers, 201), (changes, 403)):
        data = json.dumps(body).encode()
        assert root.answer("/user", data, Content_Type="application/json")[0] == status


def refuses_strangers(root: UiAddress) -> None:
    """Assert that nothing is shown or started without the token."""
    stranger = UiAddress(root.base, None)
    assert root.token is not None
    for path in ("/", "/sitebench/run", "/stats/requests", "/?token=", "/?token=guess"):
        assert stranger.answer(path)[0] == 403, path
    assert stranger.answer("/", Cookie="sitebench-8089=; sitebench-80=")[0] == 403
    for words in ("Bearer", "Bearer guess", f"Basic {root.token}", root.token, "Bearer \xe9"):
        assert stranger.answer("/stats/requests", Authorization=words)[0] == 403, words
    assert stranger.answer("/swarm", b"user_count=1&spawn_rate=1")[0] == 403


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[Screen]:
    yield from screen_of(LOCUSTFILE, tmp_path)


def test_access_without_the_token_is_refused(root: UiAddress) -> None:
    refuses_strangers(root)


def test_access_to_locust_started_directly_needs_the_token(by_hand: Screen) -> None:
    refuses_strangers(by_hand.root)


def test_token_is_in_a_cookie_that_scripts_and_other_sites_cannot_use(root: UiAddress) -> None:
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with browser.open(f"{root.page}&tab=sitebench-live", timeout=30) as answer:
        assert answer.geturl() == f"{root}/?tab=sitebench-live"
    (cookie,) = jar
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "Strict"
    for path in ("/", "/stats/requests", "/"):  # In every tab, as often as it is opened.
        browser.open(f"{root}{path}", timeout=30).close()


def test_script_sends_the_token_as_a_header_or_in_the_address(root: UiAddress) -> None:
    assert root.answer("/stats/requests")[0] == 200
    stranger = UiAddress(root.base, None)
    assert stranger.answer("/stats/requests", Authorization=f"bearer {root.token}")[0] == 200
    status, headers, _ = stranger.answer(f"/stats/requests?token={root.token}")
    assert (status, headers["Set-Cookie"]) == (200, None)
    assert stranger.answer(f"/stop?token={root.token}", b"")[0] == 200


@pytest.mark.parametrize("token", ["", "x" * 15, "of 16 characters", "sixteen-letters\u00e9"])
def test_weak_or_malformed_token_is_refused(tmp_path: Path, token: str) -> None:
    argv = ("ils", "ui", "--no-browser", "--web-port", str(free_port()), *FEW)
    ran = run_locust(*argv, cwd=tmp_path, env={"SITEBENCH_WEB_TOKEN": token}, main=FORKED_UI)
    ran.check(2)
    (line, _) = ran.err.splitlines()
    assert line.startswith("sitebench: $SITEBENCH_WEB_TOKEN is not at least 16 characters")
    assert not token or token not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_weak_token_is_refused_by_locust_started_directly(tmp_path: Path) -> None:
    argv, told = ("--web-port", str(free_port())), {"SITEBENCH_WEB_TOKEN": "short"}
    run_locust("-f", str(LOCUSTFILE), *argv, cwd=tmp_path, env=told).check(
        2, "sitebench: $SITEBENCH_WEB_TOKEN is not at least 16 characters"
    )
    assert list(tmp_path.iterdir()) == []


def test_target_cannot_be_changed_if_a_password_is_set(tmp_path: Path) -> None:
    with web_ui(tmp_path, "ils", *FEW, SITEBENCH_BIND_PASSWORD="sesame") as (_, root):
        refuses_strangers(root)
        screen = Screen(root)
        for name, value in {
            "target": "ldap://127.0.0.1:3999",
            "bind_dn": "cn=admin",
            "tls_insecure": "true",
            "tls_ca": "/dev/null",
            "start_tls": "true",
        }.items():
            screen.refuse("cannot be changed on this page", "LookupUser", **{name: value})
        screen.refuse("", "LookupUser", i_own_this_target="true")
        screen.start("LookupUser", 1, target="embedded", bind_dn="", tls_ca="", rate="10")


def test_report_has_an_origin_of_its_own(root: UiAddress) -> None:
    _, headers, _ = root.answer("/sitebench/report")
    allowed = "sandbox allow-scripts allow-popups allow-downloads"
    assert allowed in headers["Content-Security-Policy"]
