"""No request reaches files outside the web UI's pages, or adds a header or markup to an answer."""

import http.client
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ui_address import UiAddress
from tests.support.web_page import web_ui

SECRET = "nobody may read this"
MARK = "x-planted"
PLANTED = f"%0d%0a{MARK}:%20yes%0d%0a%0d%0a<script>{MARK}</script>"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, UiAddress]]:
    """A file beside all served files, and the address of the web UI."""
    folder = tmp_path_factory.mktemp("ui")
    file = folder / "secret"
    file.write_text(SECRET)
    with web_ui(folder, "ils", "--entries", "10", "--locales", "en_US") as (_, root):
        yield file, root


def asked(where: UiAddress, target: str) -> tuple[int, str, str]:
    """Send a path unnormalised, unlike clients; return status, headers and body."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(where.base).netloc, timeout=60)
    try:
        connection.request("GET", target, headers=where.headers)
        answer = connection.getresponse()
        return answer.status, str(answer.headers), answer.read().decode(errors="replace")
    finally:
        connection.close()


@pytest.mark.parametrize("under", ["/", "/sitebench/", "/assets/", "/static/", "/stats/"])
@pytest.mark.parametrize("up", ["../", "..%2f", "%2e%2e/", "..\\", "....//", "%252e%252e%252f"])
def test_no_path_leaves_the_static_folder(
    under: str, up: str, there: tuple[Path, UiAddress]
) -> None:
    file, where = there
    for depth in (1, 4, 12):
        for path in (str(file).lstrip("/"), file.name, "proc/self/environ"):
            status, _, body = asked(where, under + up * depth + path)
            assert SECRET not in body
            assert "XDG_" not in body
            assert status in (400, 403, 404, 405), path


@pytest.mark.parametrize(
    "target",
    [
        f"/sitebench/live?theme={PLANTED}",
        f"/sitebench/live.json?test=0&after={PLANTED}",
        f"/sitebench/run?download={PLANTED}",
        f"/sitebench/report?download={PLANTED}",
        f"/stats/report?download=1&theme={PLANTED}",
        f"/stats/requests/csv?{PLANTED}",
        f"/sitebench/{PLANTED}",
        f"/?{PLANTED}",
    ],
)
def test_request_text_cannot_inject_headers_or_markup(
    target: str, there: tuple[Path, UiAddress]
) -> None:
    _, headers, body = asked(there[1], target)
    assert MARK not in headers.lower()
    assert f"<script>{MARK}" not in body
