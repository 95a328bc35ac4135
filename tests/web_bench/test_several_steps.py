"""An operation of two steps is held to the same rules as one of one step."""

import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.support.cli import in_process
from tests.web_bench.servers import serving

USERS = 4
ONE = '[[operation]]\nname = "visit"\nget = "/b"\n'
TWO = (
    '[[operation]]\nname = "visit"\n'
    'step = [{ name = "a", get = "/a" }, { name = "b", get = "/b" }]\n'
)


@pytest.mark.parametrize("text", [ONE, TWO])
def test_late_step_is_in_the_operations_figures(tmp_path: Path, text: str) -> None:
    over = threading.Event()
    first: list[float] = []

    class Hangs(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            # What looks at the target before the run is Python's own client.
            if not self.headers.get("Accept-Encoding"):
                first.append(time.monotonic())
            if self.path == "/b" and first and time.monotonic() > first[0] + 1.2:
                over.wait(10)
                return
            time.sleep(0.01)
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    file = tmp_path / "visit.toml"
    file.write_text(text, "utf-8")
    with serving(Hangs) as server:
        try:
            ran = in_process(
                *("site", "run", file, "--json", "--allow-failures", "--users", USERS),
                *("--target", f"http://127.0.0.1:{server.server_address[1]}", "--threads", 1),
                *("--warmup", "0.5s", "--measure", "1.5s", "--timeout", "1s"),
                *("--objective", "failures<0.1%"),
                cwd=tmp_path,
            )
        finally:
            over.set()
    assert ran.code == 3, ran.err
    (point,) = ran.objects
    # Each user hangs in the window, from 1.2 s on, and again once that has timed out.
    assert USERS <= point["failures"] <= 2 * USERS
    assert point["censored_us"]["n"] == point["failures"]
    assert point["latency_us"]["max"] >= 1e6
    assert point["thinking"] == 0
