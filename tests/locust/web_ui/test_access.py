"""Who may use the web UI: its own pages, with the token where there is something to guard."""

import http.cookiejar
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.screen import Screen
from tests.support.web_page import web_ui

pytestmark = pytest.mark.timeout(180)
FEW = ("--entries", "10", "--locales", "en_US")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with web_ui(tmp_path_factory.mktemp("ui"), "ils", *FEW) as (_, root):
        yield root


def asked(url: str, data: bytes | None = None, **headers: str) -> tuple[int, Any]:
    """Return status and headers of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, named), timeout=30) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


@pytest.mark.parametrize(
    ("path", "who"), [("/", "none"), ("/sitebench/run", "none"), ("/sitebench/live", "self")]
)
def test_no_other_page_shows_it_in_a_frame(root: str, path: str, who: str) -> None:
    _, headers = asked(root + path)
    assert f"frame-ancestors '{who}'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == {"none": "DENY", "self": "SAMEORIGIN"}[who]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("dest", ["iframe", "image", "empty", "object", "document"])
def test_a_link_is_followed_and_nothing_else_of_another_site(
    root: str, site: str, dest: str
) -> None:
    there = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": dest}
    assert asked(f"{root}/", None, **there)[0] == (200 if dest == "document" else 403)
    assert asked(f"{root}/stop", b"", **there)[0] == 403


@pytest.mark.parametrize("path", ["/swarm", "/stop", "/stats/reset", "/user"])
def test_what_changes_something_is_no_get(root: str, path: str) -> None:
    assert asked(root + path)[0] == 405


@pytest.mark.parametrize(
    "more", [{"sequence": 1}, {"abstract": True}, {"__init__": None}, [["x"]], 5]
)
def test_of_a_user_class_only_its_numbers_change(root: str, more: Any) -> None:
    numbers = {"user_class_name": "LookupUser", "weight": 1}
    changes = numbers | more if isinstance(more, dict) else more
    for body, status in ((numbers, 201), (changes, 403)):
        data = json.dumps(body).encode()
        assert asked(f"{root}/user", data, Content_Type="application/json")[0] == status


def test_with_a_password_it_takes_the_token_and_the_target_stays(tmp_path: Path) -> None:
    with web_ui(tmp_path, "ils", *FEW, SITEBENCH_BIND_PASSWORD="sesame") as (process, root):
        assert process.stdout is not None
        printed = re.search(r"web UI: (\S+)", process.stdout.readline())
        assert printed is not None
        assert printed[1].startswith(f"{root}/?token=")
        for path in ("/", "/sitebench/run", "/stats/requests", "/?token=", "/?token=guess"):
            assert asked(root + path)[0] == 403, path
        assert asked(f"{root}/swarm", b"user_count=1&spawn_rate=1")[0] == 403
        jar = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        with browser.open(printed[1], timeout=30) as answer:
            assert answer.geturl() == f"{root}/"
        (cookie,) = jar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "Strict"

        def start(**fields: str) -> Any:
            form = {"user_count": "1", "spawn_rate": "1", "user_classes": "LookupUser", **fields}
            data = urllib.parse.urlencode(form).encode()
            with browser.open(f"{root}/swarm", data, timeout=60) as answer:
                return json.loads(answer.read())

        for name, value in {
            "target": "ldap://127.0.0.1:3999",
            "bind_dn": "cn=admin",
            "tls_insecure": "true",
            "tls_ca": "/dev/null",
            "start_tls": "true",
        }.items():
            refused = start(**{name: value})
            assert not refused["success"]
            assert "cannot be changed by the page" in refused["message"]
        assert not start(i_own_this_target="true")["success"]
        assert start(target="embedded", bind_dn="", tls_ca="")["success"]


@pytest.mark.parametrize(
    ("half", "user", "fields"),
    [
        ("web", "SpiceInprocessUser", ("docroot", "workload", "files_per_class")),
        ("ps", "ScenarioUser", ("scenario", "database")),
    ],
)
def test_no_file_of_its_owner_is_named_by_the_page(
    tmp_path: Path, half: str, user: str, fields: tuple[str, ...]
) -> None:
    private = tmp_path / "private"
    with web_ui(tmp_path, half) as (_, root):
        for name in fields:
            answer = Screen(root).post(
                "/swarm",
                **{"user_count": "1", "spawn_rate": "1", "user_classes": user, name: str(private)},
            )
            label = name.replace("_", " ").capitalize()
            assert not answer["success"]
            assert answer["message"] == (
                f"{label} cannot be set by the page: give it when Locust is started"
            )
    assert not private.exists()


def test_a_report_is_of_an_origin_of_its_own(root: str) -> None:
    _, headers = asked(f"{root}/sitebench/report")
    allowed = "sandbox allow-scripts allow-popups allow-downloads"
    assert allowed in headers["Content-Security-Policy"]
