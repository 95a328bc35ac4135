"""Recordings of sites in common frameworks are replayed: tokens, cookies and objects."""

from __future__ import annotations

import base64
import re
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

import pytest

from sitebench.http.address import parse_address
from sitebench.http.site import probe
from sitebench.scenario.har import convert
from sitebench.system.network import free_port
from tests.scenario.recording import Browser, archive
from tests.scenario.test_sites import rows
from tests.support import django_site
from tests.support.http_server import Handler, serving
from tests.support.programs import running_server


@pytest.fixture
def django_url(tmp_path: Path) -> Iterator[str]:
    """Yield the address of Django's admin; `requests.log` in the folder lists its answers."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    argv = [sys.executable, django_site.__file__, str(port)]
    with running_server(argv, lambda: probe(parse_address(url)), cwd=tmp_path):
        yield url


def field(page: str, name: str) -> str:
    """Return the value of a form's last field of a name."""
    return str(re.findall(rf'name="{name}" value="([^"]*)"', page)[-1])


def test_recording_of_django_admin_is_replayed(django_url: str, tmp_path: Path) -> None:
    """The token occurs twice in a page, and each replay adds a group with another number."""
    browser = Browser(django_url)

    def send(path: str, **form: str) -> None:
        token = field(browser.ask("GET", path), "csrfmiddlewaretoken")
        browser.ask("POST", path, {"csrfmiddlewaretoken": token, **form})
        assert browser.entries[-1]["response"]["status"] in (200, 302)

    groups = "/admin/auth/group/"
    person = {"username": django_site.USER, "password": django_site.PASSWORD}
    send("/admin/login/?next=/admin/", **person, next="/admin/")
    send(f"{groups}add/", name="bench", _save="Save")
    # Its message also links to the group, behind a non-ASCII quotation mark.
    assert "was added successfully" in browser.ask("GET", groups)
    assert 'value="bench"' in browser.ask("GET", f"{groups}1/change/")
    browser.ask("GET", f"{groups}?q=bench")
    send(f"{groups}1/delete/", post="yes")
    home = browser.ask("GET", "/admin/")
    browser.ask(
        "POST", "/admin/logout/", {"csrfmiddlewaretoken": field(home, "csrfmiddlewaretoken")}
    )
    converted = convert(archive(*browser.entries), "django.har", think=False)
    assert "accounts.csv has to have the columns username,password" in converted.notes
    accounts = tmp_path / "accounts.csv"
    accounts.write_text("username,password\n{username},{password}\n".format(**person))
    log = tmp_path / "requests.log"
    log.unlink()
    steps = rows(django_url, converted.text, accounts, count=2, lanes=1)
    answers = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    assert {status for status, _ in answers} == {"200", "302"}, answers
    assert {name: row["failures"] for name, row in steps.items() if row["failures"]} == {}
    assert {f"GET {groups}{number}/change/" for number in (2, 3)} <= {line for _, line in answers}


class _Laravel(Handler):
    """A site whose pages, cookies and answers to wrong tokens have the form of Laravel's."""

    sessions: dict[str, str]
    """Tokens, by the cookie of their session."""
    orders: list[int]
    answers: list[str]

    def cookie(self) -> str:
        session = re.search(r"laravel_session=(\w+)", self.headers.get("Cookie", ""))
        return session[1] if session else ""

    def get(self) -> None:
        self.session = self.cookie()
        if not self.session:
            self.session = secrets.token_hex(20)
            self.sessions[self.session] = secrets.token_urlsafe(30)
        token = self.sessions[self.session]
        links = [f"/orders/{number}" for number in self.orders]
        if re.fullmatch("/orders/[0-9]+", self.path):
            links = [f"{self.path}/edit"]
        self.send(
            200,
            f'<head><meta name="csrf-token" content="{token}"></head>'
            + "".join(f'<a href="{link}">An order</a>' for link in links)
            + f'<form method="post"><input type="hidden" name="_token" value="{token}"></form>',
        )

    def post(self) -> None:
        body = self.content().decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.session = self.cookie()
        token = self.sessions.get(self.session, "")
        header = self.headers.get("X-XSRF-TOKEN")
        if not token or (form.get("_token") != token and header != _encrypted(token)):
            return self.send(419, "Page Expired")
        if self.path == "/orders":
            self.orders.append(len(self.answers))
            return self.send(
                302, location=f"http://{self.headers['Host']}/orders/{self.orders[-1]}"
            )
        if form.get("_method") == "DELETE":
            number = int(self.path.rpartition("/")[2])
            if number not in self.orders:
                return self.send(404)
            self.orders.remove(number)
            return self.send(302, location="/orders")
        return self.send(200, "{}")

    def send(self, status: int, page: str = "", location: str = "") -> None:
        self.answers.append(f"{status} {self.command} {self.path}")
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        if token := self.sessions.get(self.session):
            self.send_header("Set-Cookie", f"XSRF-TOKEN={quote(_encrypted(token))}; path=/")
            self.send_header("Set-Cookie", f"laravel_session={self.session}; path=/; httponly")
        self.send_header("Content-Type", "text/html; charset=UTF-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode())


def _encrypted(token: str) -> str:
    """Return Laravel's cookie for scripts: base64, which ends in equals signs."""
    return base64.b64encode(f"{{'value': '{token}'}}".ljust(70).encode()).decode()


def test_recording_with_laravel_tokens_is_replayed() -> None:
    """A token occurs in a meta tag, a hidden field and a cookie; only a redirect has the number."""

    class Site(_Laravel):
        sessions, orders, answers = dict[str, str](), list[int](), list[str]()

    with serving(Site) as server:
        browser = Browser(server.url)
        token = field(browser.ask("GET", "/login"), "_token")
        encrypted = unquote(browser.cookies["XSRF-TOKEN"])
        browser.ask("POST", "/cart", {"article": "7"}, {"X-XSRF-TOKEN": encrypted})
        browser.ask("POST", "/orders", {"_token": token})
        order = Site.answers[-1] and f"/orders/{Site.orders[-1]}"
        browser.ask("GET", order)
        browser.ask("GET", f"{order}/edit")
        browser.ask("POST", order, {"_token": token, "_method": "DELETE"})
        browser.ask("GET", "/orders")
        assert not [answer for answer in Site.answers if answer[0] == "4"]
        converted = convert(archive(*browser.entries), "laravel.har", think=False)
        del Site.answers[:]
        steps = rows(server.url, converted.text, None, count=2, lanes=1)
    assert not [answer for answer in Site.answers if answer[0] == "4"], converted.text
    assert {name: row["failures"] for name, row in steps.items() if row["failures"]} == {}
    assert token not in converted.text
    assert encrypted not in converted.text
    assert "account" not in converted.text
