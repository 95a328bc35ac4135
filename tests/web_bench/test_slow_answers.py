"""Slow handshakes at a window's end: operations of the window are awaited for the timeout."""

import ssl
import time
from pathlib import Path

import pytest

from tests.support.cli import in_process
from tests.support.http_server import Handler, serving
from tests.tls.certificates import self_signed

LANES = 4
TIMEOUT_S = 10


@pytest.mark.parametrize(
    ("handshake_s", "answer_s"),
    [(1.0, 6.5), pytest.param(4.0, 8.5, id="longer-than-the-timeout", marks=pytest.mark.long)],
)
def test_late_handshake_is_awaited_for_the_whole_timeout(
    tmp_path: Path, handshake_s: float, answer_s: float
) -> None:
    """The second request of each lane begins in the window, and its handshake ends after it.

    The request was given 5 s from its handshake on, and counted as unanswered. The timeout applies
    to an answer, from its request on.
    """
    takes_s = handshake_s + answer_s
    shown = self_signed(tmp_path, "server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(shown.cert, shown.key)

    class Slow(Handler):
        protocol_version = "HTTP/1.0"

        def setup(self) -> None:
            time.sleep(handshake_s)
            self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            super().finish()
            self.request.close()

        def get(self) -> None:
            # The probe before the run is Python's own client.
            time.sleep(0.0 if self.headers.get("Accept-Encoding") else answer_s)
            self.reply(b"hello")

    with serving(Slow) as server:
        ran = in_process(
            *("web", "run", "--path", "/index.html", "--tls-insecure", "--json"),
            *("--target", f"https://127.0.0.1:{server.server_address[1]}", "--users", LANES),
            *("--threads", 1, "--warmup", f"{takes_s - 0.6:.1f}s", "--measure", "1.2s"),
            *("--timeout", f"{TIMEOUT_S}s"),
            cwd=tmp_path,
        )
    point = ran.point
    assert point["failures"] == 0
    assert point["latency_us"]["n"] == LANES
    assert "at_least" not in point["latency_us"]
    assert point["latency_us"]["max"] >= 1e6 * takes_s


# An operation of two steps follows the same rules as an operation of one step.

USERS = 4
ONE = '[[operation]]\nname = "visit"\nget = "/b"\n'
TWO = (
    '[[operation]]\nname = "visit"\n'
    'step = [{ name = "a", get = "/a" }, { name = "b", get = "/b" }]\n'
)


@pytest.mark.parametrize("text", [ONE, TWO])
def test_late_step_is_in_the_operations_figures(tmp_path: Path, text: str) -> None:
    first: list[float] = []

    class Hangs(Handler):
        def get(self) -> None:
            # The probe before the run is Python's own client.
            if not self.headers.get("Accept-Encoding"):
                first.append(time.monotonic())
            if self.path == "/b" and first and time.monotonic() > first[0] + 1.2:
                self.server.over.wait(10)
                return
            time.sleep(0.01)
            self.reply(b"hello")

    file = tmp_path / "visit.toml"
    file.write_text(text, "utf-8")
    with serving(Hangs) as server:
        ran = in_process(
            *("site", "run", file, "--json", "--allow-failures", "--users", USERS),
            *("--target", server.url, "--threads", 1),
            *("--warmup", "0.5s", "--measure", "1.5s", "--timeout", "1s"),
            *("--objective", "failures<0.1%"),
            cwd=tmp_path,
        )
    assert ran.code == 3, ran.err
    (point,) = ran.objects
    # Each user hangs in the window, from 1.2 s on, and again after that timeout.
    assert USERS <= point["failures"] <= 2 * USERS
    assert point["censored_us"]["n"] == point["failures"]
    assert point["latency_us"]["max"] >= 1e6
    assert point["thinking"] == 0
