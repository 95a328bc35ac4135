"""`sitebench ils ui` and `ps ui`: their address, their users, and their remaining files."""

import http.cookiejar
import itertools
import json
import socket
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import psutil
import pytest

from sitebench.system.network import free_port
from tests.support.browser import browsing
from tests.support.cli import sitebench
from tests.support.locusts import FORKED_UI, Locust
from tests.support.screen import Screen
from tests.support.waiting import ends_s, eventually, left_s
from tests.support.web_page import WebPage, web_ui

pytestmark = pytest.mark.timeout(180)


def test_port_in_use_is_a_one_line_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = sitebench("ils", "ui", "--no-browser", "--web-port", port)
    assert ran.code == 2
    assert ran.err.splitlines()[0] == (f"sitebench: port {port} of 127.0.0.1 is in use")


def test_second_web_ui_at_a_port_is_refused(tmp_path: Path) -> None:
    port = free_port()
    argv = ("ils", "ui", "--no-browser", "--web-port", str(port))
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    both = [Locust(*argv, cwd=folder, together=True, main=FORKED_UI) for folder in folders]
    try:
        assert eventually(lambda: any(ui.poll() is not None for ui in both))
        (loser,) = (ui for ui in both if ui.poll() is not None)
        (winner,) = (ui for ui in both if ui is not loser)
        assert eventually(lambda: "web UI: http" in winner.said())
    finally:
        for ui in both:
            ui.terminate()
            ui.wait(ends_s())
    assert loser.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in loser.said()
    assert "web UI: http" not in loser.said()
    assert "Traceback" not in loser.said()
    assert "Aggregated" not in winner.said() + loser.said()
    assert [path for folder in folders for path in folder.iterdir()] == []


def test_login_without_password_is_a_one_line_error() -> None:
    sitebench("ps", "ui", "--no-browser", "--web-login", SITEBENCH_UI_LOGIN="").check(
        2, "--web-login finds no NAME:PASSWORD in $SITEBENCH_UI_LOGIN"
    )


def test_unwritable_run_file_is_a_one_line_error() -> None:
    port = str(free_port())
    ran = sitebench(
        "ils", "ui", "--no-browser", "--web-port", port, "--out", "/nowhere/at/all"
    ).check(2, "sitebench: cannot open run file /nowhere/at/all")
    assert "Traceback" not in ran.err + ran.out


def test_start_prints_the_address_and_the_run_file(tmp_path: Path) -> None:
    output: list[str] = []
    few, chosen = ("--entries", "1k"), {"SITEBENCH_WEB_TOKEN": "Of-a-script_0123"}
    ui = web_ui(tmp_path, "ils", *few, output=output, forked=False, **chosen)
    with ui as (_, root):
        # Environment variables of the command are passed to the program that replaces it.
        assert [root.token] == [*chosen.values()]
        screen = Screen(root)
        screen.run("LookupUser", "lookup", 100)
        (kept,) = tmp_path.glob("ui-*.sitebench")
        # The web UI is stopped during a test.
        screen.start("ConnectUser")
        screen.until_done("connect", 100)
    (said,) = output
    assert "Traceback" not in said
    assert f"web UI: {root.page} (Ctrl-C to stop)" in said
    assert f"results: {kept.name}" in said
    assert kept.exists()
    assert f"run file: {kept.name}" in said


def test_session_without_a_test_takes_little_cpu_and_leaves_no_run_file(tmp_path: Path) -> None:
    """Ten loads of the page take less CPU than the start; they took twice as much."""
    with web_ui(tmp_path, "ils") as (process, root):
        assert list(tmp_path.glob("ui-*.sitebench"))
        used = psutil.Process(process.pid).cpu_times

        def cpu_s() -> float:
            return used().user + used().system

        start_s = cpu_s()
        for _ in range(10):
            urllib.request.urlopen(root.request("/"), timeout=left_s()).close()
        assert cpu_s() - start_s < start_s
    assert not list(tmp_path.glob("ui-*"))


def test_token_reaches_the_browser_by_a_file_not_by_arguments(
    tmp_path: Path, chromedriver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {said}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    (tmp_path / "ui").mkdir()
    with web_ui(tmp_path / "ui", "ps", "--browser", forked=False) as (_, root):
        assert eventually(lambda: said.exists() and said.read_text().endswith("\n"))
        opened = said.read_text().strip()
        file = Path(urllib.parse.unquote(urllib.parse.urlsplit(opened).path))
        assert opened.startswith("file://")
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        assert root.token is not None
        assert root.token not in opened
        with browsing(chromedriver, tmp_path) as chromium:
            chromium.open(opened)
            page = WebPage(chromium, root)
            assert page.sees("return document.querySelectorAll('button, input').length > 3")
            # The token is neither in the address bar nor in the history.
            assert chromium.run("return location.href") == f"{root}/?tab=sitebench-live"
            assert chromium.run("return document.cookie") == ""
    assert not file.exists()


def test_access_without_the_password_is_refused(tmp_path: Path) -> None:
    login = tmp_path / "login"
    login.write_text("anna:sesame\n")
    with web_ui(tmp_path, "ils", "--web-login", "--login-file", str(login)) as (_, root):
        for path in ("/", "/sitebench/live.json", "/sitebench/run", "/stats/requests"):
            with urllib.request.urlopen(f"{root}{path}", timeout=30) as answer:
                assert "/login" in answer.geturl(), path
        browser = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )

        def log_in(password: str) -> str:
            form = urllib.parse.urlencode({"username": "anna", "password": password})
            with browser.open(f"{root}/sitebench/login", form.encode(), timeout=30) as answer:
                return str(answer.geturl())

        assert log_in("guess").endswith("/login")
        assert log_in("sesame") == f"{root}/"
        assert root.token is None
        with browser.open(f"{root}/sitebench/live.json", timeout=30) as answer:
            assert json.loads(answer.read())["word"] == "fill in the form and start"


def test_page_of_another_site_can_neither_start_nor_read_a_test(tmp_path: Path) -> None:
    form = urllib.parse.urlencode({"user_count": "1", "spawn_rate": "1"}).encode()
    with web_ui(tmp_path, "ils") as (_, root):
        port = urllib.parse.urlsplit(root.base).port
        ways: list[dict[str, str]] = [
            {"Origin": "http://elsewhere.example"},
            # The other site's name resolves to this machine.
            {"Origin": f"http://elsewhere.example:{port}", "Host": f"elsewhere.example:{port}"},
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        ]
        paths = (("/swarm", form), ("/sitebench/run", None), ("/stats/requests", None))
        for foreign, (path, data) in itertools.product(ways, paths):
            assert root.answer(path, data, **foreign)[0] == 403, path
        assert Screen(root).stats()["state"] == "ready"
