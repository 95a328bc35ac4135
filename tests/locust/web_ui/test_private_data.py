"""Attacks on a running web UI by another user of the machine, and limits of its owner's page.

Both were possible once: a page that took a scenario's name read the owner's variables, and one
that took a docroot's name read files of its owner.
"""

import socket
import threading
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest

from tests.support.ldap_server import serving
from tests.support.ui_address import UiAddress
from tests.support.web_page import web_ui

pytestmark = pytest.mark.timeout(180)
SECRET = "OWNERS-CLOUD-KEY"


def posted(root: UiAddress, **fields: str) -> tuple[int, str]:
    """Begin a test as a page does; return status and answer."""
    form = urlencode({"user_count": "1", "spawn_rate": "1", **fields}).encode()
    status, _, text = root.answer("/swarm", form)
    return status, text


def listening(process: psutil.Process) -> set[int]:
    """Return the listening ports of a process and its children."""
    return {
        each.laddr.port
        for one in (process, *process.children(recursive=True))
        for each in one.net_connections()
        if each.status == psutil.CONN_LISTEN
    }


def test_page_cannot_read_environment_variables_of_the_owner(tmp_path: Path) -> None:
    scenario = tmp_path / "leak.toml"
    scenario.write_text(
        '[headers]\nX-Leak = "{env.OWNERS_KEY}"\n'
        '[[operation]]\nname = "leak"\nshare = 100\n'
        '[[operation.request]]\nname = "leak"\npath = "/"\n'
    )
    got = list[bytes]()

    def hear(connection: socket.socket, _: threading.Event) -> None:
        while asked := connection.recv(65_536):
            got.append(asked)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with serving(hear) as port, web_ui(tmp_path, "ps", OWNERS_KEY=SECRET) as (_, root):
        fields = {
            "user_classes": "ScenarioUser",
            "target": f"http://127.0.0.1:{port}",
            "scenario": str(scenario),
            "entries": "1",
            "measure": "1s",
        }
        status, answer = posted(UiAddress(root.base, None), **fields)
        assert status == 403
        assert SECRET not in answer
        status, answer = posted(root, **fields)
        assert "Scenario cannot be set by the page" in answer
        assert SECRET not in answer
        # A test started from the page checks the target, and sends no environment variable.
        del fields["scenario"]
        posted(root, **fields)
    assert got, "the target that the page names was not looked at"
    assert not [each for each in got if SECRET.encode() in each]


@pytest.mark.parametrize("user", ["SpiceInprocessUser", "WebBench1LightUser", "FileUser"])
def test_page_cannot_read_files_of_the_owner(tmp_path: Path, user: str) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "id_rsa").write_text(SECRET)
    before = sorted(private.rglob("*"))
    fields = {
        "user_classes": user,
        "target": "embedded",
        "docroot": str(private),
        "path": "/id_rsa",
        "measure": "1s",
    }
    with web_ui(tmp_path, "web") as (process, root):
        owner = psutil.Process(process.pid)
        ports = listening(owner)
        assert posted(UiAddress(root.base, None), **fields)[0] == 403
        _, answer = posted(root, **fields)
        assert "Docroot cannot be set by the page" in answer
        assert listening(owner) == ports
    assert sorted(private.rglob("*")) == before
