"""Connections that a server counts for its requests, for each way to say how long they live."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import in_process

USERS = 2
LOAD = ("--users", str(USERS), "--threads", "1", "--rate", "100", "--warmup", "100ms")
CLOSED = 'connection.main.per = "step"\n[[operation]]\nget = "/"\n'
KEPT = '[[operation]]\nget = "/"\n'


class Counting(ThreadingHTTPServer):
    """A server of one page that counts connections and requests."""

    daemon_threads = True
    connections = 0
    requests = 0

    def get_request(self) -> tuple[Any, Any]:
        accepted = super().get_request()
        self.connections += 1
        return accepted


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 4096
    """Head and body leave together: Nagle's algorithm would hold the body for 40 ms."""
    server: Counting

    def do_GET(self) -> None:
        self.server.requests += 1
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[Counting]:
    with Counting(("127.0.0.1", 0), Page) as counting:
        thread = threading.Thread(target=counting.serve_forever, args=(0.02,))
        thread.start()
        yield counting
        counting.shutdown()
        thread.join()


def measured(
    server: Counting, *argv: str, command: tuple[str, ...] = ("web", "run"), cwd: Path | None = None
) -> list[dict[str, Any]]:
    """Run a command at the server; return the points that it prints."""
    url = f"http://127.0.0.1:{server.server_port}"
    window = ("--measure", "400ms", "--json")
    ran = in_process(*command, *argv, "--target", url, *LOAD, *window, cwd=cwd)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (("web", "run", "--path", "/"), True),
        (("web", "run", "--path", "/", "--keepalive"), True),
        (("web", "run", "--path", "/", "--no-keepalive"), False),
        (("web", "run", "kept.toml"), True),
        (("web", "run", "kept.toml", "--keepalive"), True),
        (("web", "run", "closed.toml"), False),
        (("web", "run", "closed.toml", "--no-keepalive"), False),
        (("ps", "run", "kept.toml"), True),
        (("ps", "run", "closed.toml"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_connections_per_request_are_what_was_asked_for(
    server: Counting, argv: tuple[str, ...], kept: bool, tmp_path: Path
) -> None:
    (tmp_path / "kept.toml").write_text(KEPT)
    (tmp_path / "closed.toml").write_text(CLOSED)
    (point,) = measured(server, *argv[2:], command=argv[:2], cwd=tmp_path)
    assert server.requests > 30
    # Probes of the server have some ten connections of their own.
    if kept:
        assert server.connections <= server.requests / 2
    else:
        assert server.connections >= server.requests
    assert point["operations"] > 30
    # What was sent in all is what the server counted, but for the probes.
    assert 0 <= server.requests - point["sent"] <= 8


def test_vary_compares_kept_connections_with_closed_ones(server: Counting) -> None:
    """Both were kept: a gain between two equal things."""
    argv = ("--path", "/", "--vary", "keepalive=off,on")
    points = measured(server, *argv, command=("web", "vary"))
    rows = {
        point["spec"]["settings"]["keepalive"]: {step["step"] for step in point["steps"]}
        for point in points
    }
    assert "connect" in rows["false"]
    assert "connect" not in rows["true"]


@pytest.mark.parametrize(("option", "text", "per"), [("", CLOSED, "user"), ("no-", KEPT, "step")])
def test_contradicting_file_is_refused(option: str, text: str, per: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    argv = ("web", "run", "own.toml", "--target", "http://127.0.0.1:9", f"--{option}keepalive")
    ran = in_process(*argv, cwd=tmp_path)
    assert ran.code == 2
    message, remedy = ran.err.splitlines()
    assert "own.toml says itself how long connections are kept" in message
    assert f'per = "{per}" in its [connection.main]' in remedy
