"""`sitebench ps serve` and `seed`, as a user starts them."""

import re
import signal
import socket
import sqlite3
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ps_bench.options import PsOptions
from ps_bench.targets.opening import open_target
from sitebench.http.site import OpenSite
from tests.ps_bench.conftest import LOCALES, SIZE
from tests.support import http_server
from tests.support.cli import in_process
from tests.support.serving import serving
from tests.support.waiting import left_s


@contextmanager
def site(*argv: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running site and its address."""
    with serving("ps", "--locales", ",".join(LOCALES), *argv) as (process, lines):
        found = re.search(r"http://[\d.:]+", lines[0])
        assert found is not None, lines
        assert f"{found[0]}/enter?user=7" in lines[1]
        yield process, found[0]


def test_serve_command_serves_pages() -> None:
    with site("--entries", "20") as (_, url):
        request = urllib.request.Request(url, headers={"Cookie": "user=7"})
        with urllib.request.urlopen(request, timeout=left_s()) as answer:
            page = answer.read()
    assert len(page) == 8_290
    assert b'data-user="7"' in page


def test_given_database_keeps_changes(tmp_path: Path) -> None:
    file = tmp_path / "people.sqlite"
    in_process("ps", "seed", str(file), *SIZE).check(0, "300 people")
    with site("--database", str(file), "--durability", "full") as (process, url):
        form = b"background=%23010203&accent=%23040506"
        request = urllib.request.Request(f"{url}/preferences", form, {"Cookie": "user=5"})
        with urllib.request.urlopen(request, timeout=left_s()) as answer:
            assert answer.status == 204
        process.send_signal(signal.SIGINT)
        assert process.wait(left_s()) == 0
    with sqlite3.connect(file) as db:
        found = db.execute("SELECT background, accent FROM people WHERE id = 5").fetchone()
    db.close()
    assert found == ("#010203", "#040506")
    assert [each.name for each in tmp_path.iterdir()] == ["people.sqlite"]


def test_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = in_process("ps", "serve", "--entries", "20", "--port", port, *SIZE[2:])
    ran.refuse(2, port, "port")


# Facts about a site in the manifest: version and configuration, if the site shows them.


class Kestrel(http_server.Handler):
    def version_string(self) -> str:
        """Return the header Server."""
        return "Kestrel/8"


def test_manifest_has_settings_of_the_embedded_site(site: OpenSite) -> None:
    assert site.facts["version"].startswith("sitebench ")
    assert site.facts["configuration"] == {"threads": 1, "durability": "normal", "row_cache": 0}


def test_manifest_has_the_server_header_of_a_foreign_site() -> None:
    with (
        http_server.serving(Kestrel) as server,
        open_target(PsOptions(target=server.url)) as opened,
    ):
        assert opened.facts == {"server": "Kestrel/8"}
