"""Lanes of FastHttpUser: what the engine hands out is sent, and what it says of answers is kept."""

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from tests.support.in_locust import in_locust

LOGIN = """
[data.account]
values = ["ann", "bo"]
deal = "in-order"

[[operation]]
name = "session"
counts = "account"

[[operation.step]]
name = "form"
get = "/login"
capture.token = { before = 'value="', until = '"' }

[[operation.step]]
name = "login"
post = "/login"
form = { user = "{account}", token = "{token}" }
expect = { status = 303, headers.Location = "/" }

[[operation.step]]
name = "account"
get = "/"
headers.X-Name = "ä"
expect.contains = "Hello, {account}"
"""


class Login(BaseHTTPRequestHandler):
    """A site that wants the token of its form, and then the session that it led to."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, str, str]]] = []
    peers: ClassVar[set[int]] = set()

    def do_GET(self) -> None:
        self._note()
        if self.path == "/login":
            self._answer(200, f'<input value="t+{len(self.seen)}">')
        elif self.path == "/slow":
            time.sleep(5)
        elif self.path.startswith("/cut"):
            self._cut(self.path.removeprefix("/cut/"))
        elif self.path == "/error":
            self._answer(500, "")
        elif (name := re.search("session=([a-z]+)", self.headers.get("Cookie", ""))) is not None:
            self._answer(200, f"Hello, {name[1]}" if self.headers["X-Name"] == "Ã¤" else "")
        else:
            self._answer(200, "Hello, stranger")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._note(body)
        found = re.fullmatch(r"user=([a-z]+)&token=t%2B(\d+)", body)
        if found is None:
            return self._answer(200, "")
        return self._answer(303, "", Location="/", **{"Set-Cookie": f"session={found[1]}; Path=/"})

    def do_DELETE(self) -> None:
        self.do_GET()

    def _note(self, body: str = "") -> None:
        self.seen.append((self.command, self.path, body or self.headers.get("Cookie", "")))
        self.peers.add(self.client_address[1])

    def _answer(self, status: int, body: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def _cut(self, framing: str) -> None:
        """Answer half of what there is, or all of it where nothing says how much there is."""
        lines = {
            "length": "Content-Length: 12\r\n",
            "chunks": "Transfer-Encoding: chunked\r\n",
            "packed": "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n",
            "none": "Connection: close\r\n",
        }
        body = "Hello" if framing in ("length", "none") else "5\r\nHello\r\n"
        self.wfile.write(f"HTTP/1.1 200 OK\r\n{lines[framing]}\r\n{body}".encode())
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    Login.seen.clear()
    Login.peers.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Login) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def run(port: int, text: str, work: str, *, keepalive: bool = True, timeout: float = 10.0) -> Any:
    """Do some work with a lane of a scenario; return what was recorded, by operation and step."""
    target = {"protocol": "http", "host": "127.0.0.1", "port": port, "keepalive": keepalive}
    config = {"target": target, "scenarios": [{"name": "mix", "text": text}]}
    before = f"""
import gevent
import json
from locust.env import Environment
from sitebench._engine import PortableUsers
from sitebench.counts.metrics import CENSORED, SERVICE, WRONG
from sitebench.http.address import SiteAddress
from sitebench.http.fasthttp_lane import FastHttpLanes
from sitebench.http.options import SiteTestOptions

def clocks(step):
    return [step.clocks[each].count for each in (SERVICE, WRONG, CENSORED)]

users = PortableUsers({json.dumps(json.dumps(config))})
options = SiteTestOptions(timeout={timeout})
lanes = FastHttpLanes(Environment(), SiteAddress("127.0.0.1", {port}), users, options=options)
lane = lanes.lane("mix")
lanes.start_lanes("mix", 1)
"""
    after = """
lane.close()
found = {
    f"{each.program} {each.step}": [each.count, dict(each.failures), each.examples, clocks(each)]
    for each in lanes.drain().steps
}
print(json.dumps(found))
"""
    return in_locust(work + after, before)


def test_a_login_is_one_visit_after_the_other(port: int) -> None:
    found = run(port, LOGIN, "for _ in range(4): lane.run_pass()")
    assert {row: steps[:2] for row, steps in found.items()} == {
        "session form": [4, {}],
        "session login": [4, {}],
        "session account": [4, {}],
        "session sequence": [4, {}],
    }
    visits = [Login.seen[n : n + 3] for n in range(0, 12, 3)]
    for number, (form, login, account) in enumerate(visits):
        name = ("ann", "bo")[number % 2]
        assert form == ("GET", "/login", ""), "no cookies of the visit before"
        assert login == ("POST", "/login", f"user={name}&token=t%2B{number * 3 + 1}")
        assert account == ("GET", "/", f"session={name}")
    assert len(Login.peers) == 1


def test_a_redirect_that_is_followed_is_a_part_of_the_request(port: int) -> None:
    followed = LOGIN.replace('expect = { status = 303, headers.Location = "/" }', "follow = true")
    heard = """
heard = []
lanes.environment.events.request.add_listener(lambda name, **_: heard.append(name))
lane.run_pass()
assert heard == ["form", "login", "account"], heard
"""
    for keepalive in (True, False):
        Login.seen.clear()
        found = run(port, followed, heard, keepalive=keepalive)
        assert found["session login"][:2] == [1, {}]
        asked = [(method, path) for method, path, _ in Login.seen]
        assert asked == [("GET", "/login"), ("POST", "/login"), ("GET", "/"), ("GET", "/")]
        assert Login.seen[2][2] == "session=ann", "the redirect's cookie"


def test_without_keep_alive_each_request_has_a_connection_of_its_own(port: int) -> None:
    run(port, LOGIN, "for _ in range(4): lane.run_pass()", keepalive=False)
    assert len(Login.seen) == len(Login.peers) == 12


def test_what_is_wrong_has_the_engine_s_name_and_an_example(port: int) -> None:
    text = "[[operation]]\nname = 'two'\nstep = [{ get = '/error' }, { get = '/', name = 'after' }]"
    found = run(port, text, "for _ in range(3): lane.run_pass()")
    kinds, shown = {"status:500": 3}, {"status:500": "GET /error: 500, expected 200"}
    assert found["two get"] == [3, kinds, shown, [0, 3, 0]]
    assert found["two after"][:2] == [3, {}]
    assert found["two sequence"] == [3, kinds, {}, [0, 3, 0]]


def test_an_answer_that_does_not_come_ends_the_operation(port: int) -> None:
    text = "[[operation]]\nname = 'two'\nstep = [{ get = '/slow' }, { get = '/', name = 'after' }]"
    found = run(port, text, "for _ in range(2): lane.run_pass()", timeout=0.3)
    assert found.keys() == {"two get", "two sequence"}
    for row in found:
        assert found[row][:2] == [2, {"timeout": 2}]
        assert found[row][3] == [0, 0, 2], "censored"


@pytest.mark.parametrize(
    ("framing", "failures"),
    [
        ("length", {"truncated": 2}),
        ("chunks", {"closed": 2}),
        ("packed", {"closed": 2}),
        ("none", {}),
    ],
)
def test_an_answer_that_is_cut_short_is_none(
    port: int, framing: str, failures: dict[str, int]
) -> None:
    found = run(
        port, f"[[operation]]\nget = '/cut/{framing}'", "for _ in range(2): lane.run_pass()"
    )
    assert found["get get"][:2] == [2, failures]
    assert found["get get"][3] == ([0, 0, 2] if failures else [2, 0, 0])


def test_a_port_where_nothing_listens_is_one() -> None:
    found = run(1, "[[operation]]\nget = '/'", "for _ in range(3): lane.run_pass()")
    assert found["get get"][:2] == [3, {"connect-refused": 3}]


def test_an_operation_that_has_begun_is_finished_without_its_pauses(port: int) -> None:
    text = """
[[operation]]
name = "come and go"
step = [{ get = "/1" }, { think = "1h" }, { delete = "/1" }]
"""
    work = """
working = gevent.spawn(lane.run_pass)
while not lanes.clocks or not any(clock.unfinished for clock in lanes.clocks): gevent.sleep(0.01)
gevent.sleep(0.3)
first = lanes.stop(30.0)
"""
    found = run(port, text, work + "lanes._records = {(s.program, s.step): s for s in first.steps}")
    assert [seen[:2] for seen in Login.seen] == [("GET", "/1"), ("DELETE", "/1")]
    assert found["come and go sequence"][:2] == [1, {}]
