"""The web UI's pages and downloads hold no password, for any user who logged in."""

import http.cookiejar
import json
import secrets
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.waiting import eventually
from tests.support.web_page import web_ui
from tests.trust.searching import ADMIN, Searched, administered

PEOPLE = ("--entries", "20", "--locales", "en_US")
PAGES = (
    *("/", "/stats/requests", "/stats/requests/csv", "/stats/failures/csv", "/stats/report"),
    *("/exceptions", "/exceptions/csv", "/tasks", "/logs", "/sitebench/live"),
    *("/sitebench/live.json", "/sitebench/report", "/sitebench/run"),
)


class Visitor:
    """A client with cookies."""

    def __init__(self, root: str) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener, self._root = urllib.request.build_opener(jar), root

    def get(self, path: str, **form: str) -> bytes:
        """Return a page; what is said goes with it as a form."""
        data = urllib.parse.urlencode(form).encode() if form else None
        with self._opener.open(f"{self._root}{path}", data, timeout=60) as answer:
            content: bytes = answer.read()
            return content

    def live(self) -> Any:
        """Return what the live page draws."""
        return json.loads(self.get("/sitebench/live.json"))

    def looked_up(self) -> bool:
        """Return whether people have been looked up."""
        steps = self.live()["steps"]
        return any(int(row["count"]) for row in steps if row["step"] == "lookup")


def test_pages_have_no_password(searched: Searched, password_file: str, tmp_path: Path) -> None:
    word = f"Sesam-{secrets.token_hex(8)}"
    searched.more.append(word)
    login = tmp_path / "login"
    login.write_text(f"ann:{word}\n")
    with administered(searched, *PEOPLE, "--admin-password-file", password_file) as url:
        known = ("--target", url, "--bind-dn", ADMIN, *PEOPLE, "--web-login")
        # One of each way.
        given = ("--login-file", str(login))
        told = searched.environment(SITEBENCH_BIND_PASSWORD=searched.secret)
        words = [*known, *given]
        opened = web_ui(searched.folder, "ils", *words, output=searched.heard, forked=False, **told)
        with opened as (_, root):
            visitor = Visitor(root.base)
            visitor.get("/sitebench/login", username="ann", password=word)
            form = {"user_count": "2", "spawn_rate": "2", "user_classes": "LookupUser"}
            assert json.loads(visitor.get("/swarm", **form))["success"]
            assert eventually(visitor.looked_up)
            visitor.get("/stop", now="yes")
            assert eventually(lambda: not visitor.live()["busy"])
            for page in PAGES:
                content = visitor.get(page)
                (searched.folder / f"page{page.replace('/', '_')}").write_bytes(content)
    assert searched.traces() == []
