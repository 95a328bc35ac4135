"""A folder of one's own, served: what is shown of it, and what programs get of the server."""

import contextlib
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from web_bench.targets import web_server
from web_bench.targets.web_server import WebServer


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("asked_for", [False, True])
def test_what_begins_with_a_dot_is_shown_when_asked_for(tmp_path: Path, asked_for: bool) -> None:
    for name in (".git/config", "a/.env", "index.html", ".well-known/acme"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("content")
    with WebServer(tmp_path, dot_files=asked_for) as server:
        found = {name: status(f"{server.url}/{name}") for name in (".git/config", "a/%2eenv")}
        others = {status(f"{server.url}/{name}") for name in ("index.html", ".well-known/acme")}
    assert set(found.values()) == {200 if asked_for else 404}
    assert others == {200}


def test_programs_get_no_descriptor_that_the_server_was_started_with() -> None:
    reads, writes = os.pipe()
    with contextlib.closing(os.fdopen(reads)), contextlib.closing(os.fdopen(writes, "w")):
        os.set_inheritable(writes, True)
        web_server._keep_from_programs()
        ran = subprocess.run(
            ["ls", "/proc/self/fd"], close_fds=False, capture_output=True, check=True
        )
    assert str(writes) not in ran.stdout.decode().split()
