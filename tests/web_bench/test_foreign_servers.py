"""Servers that sitebench did not start, without its files: their requests."""

from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from tests.support.cli import Ran, in_process
from tests.support.http_server import Handler, serving
from tests.tls.certificates import self_signed
from tests.web_bench.servers import nginx

SHORT = (
    *("--users", "2", "--threads", "1", "--rate", "200"),
    *("--warmup", "0s", "--measure", "500ms"),
)
PAGE = b"<p>hello"


@pytest.fixture
def docroot(tmp_path: Path) -> Path:
    (tmp_path / "docroot").mkdir()
    (tmp_path / "docroot/index.html").write_bytes(PAGE)
    return tmp_path / "docroot"


class Site(Handler):
    """Has only a front page with any query, and a page that has moved.

    Refusals contain control characters, except for one path.
    """

    def get(self) -> None:
        path = self.path.partition("?")[0]
        status = {"/": 200, "/old": 301}.get(path, 404)
        hostile = status == 404 and path != "/gone"
        location = {"Location": "/new"} if status == 301 else {}
        self.reply(PAGE, status, "Gone \x1b[31mhome" if hostile else None, **location)


def test_one_path_is_measured_at_any_server(tmp_path: Path) -> None:
    path = "/?q=a,b&x=%7B1%7D"
    with serving(Site) as server:
        argv = ("web", "run", "--path", path, "--target", server.url, *SHORT, "--json")
        point = in_process(*argv, "--out", "run", cwd=tmp_path).point
    assert (point["operation"], point["failures"]) == ("path", 0)
    # The front page is also requested by probes, before and after.
    assert 0 < point["operations"] <= server.requests.count(f"GET {path}")
    assert {*server.requests} <= {"GET /", f"GET {path}"}
    # A client has a persistent connection.
    assert server.connections < 20
    with RunFile(tmp_path / "run") as stored:
        (stored_point,) = stored.points()
        assert stored_point.spec.settings["path"] == path


def test_one_path_is_measured_below_a_base_and_over_tls(tmp_path: Path, docroot: Path) -> None:
    shown = self_signed(tmp_path, "server")
    with nginx(docroot, tmp_path / "nginx", shown=shown) as url:
        assert url.startswith("https://")
        argv = ("web", "run", "--path", "/index.html", "--target", url, "--tls-insecure")
        point = in_process(*argv, *SHORT, "--json", cwd=tmp_path).point
    assert (point["failures"], point["ops_per_s"] > 0) == (0, True)
    log = (tmp_path / "nginx/access.log").read_text()
    assert log.count('"GET /base/index.html HTTP/1.1" 200') >= point["operations"]


def refused(tmp_path: Path, url: str, *argv: str) -> Ran:
    """Run a test that is refused before it begins."""
    ran = in_process("web", "run", *argv, "--target", url, *SHORT, cwd=tmp_path).check(2)
    assert "\x1b" not in ran.err
    return ran


def test_missing_files_are_refused_after_one_request(tmp_path: Path) -> None:
    with serving(Site) as server:
        ran = refused(tmp_path, server.url, "silicon-surf")
    first = "/silicon-surf/2k-3k/0/0.html"
    said, remedy = ran.err.splitlines()[-2:]
    assert said == (
        f"sitebench: {server.url}{first} (the first file of silicon-surf) is answered with "
        r"404 Gone \x1b[31mhome"
    )
    assert "--path /" in remedy
    assert "a scenario file of your own" in remedy
    assert "sitebench web seed" in remedy
    assert server.requests == ["GET /", f"GET {first}"]
    assert not [*tmp_path.glob("*.sitebench")]


@pytest.mark.parametrize(
    ("path", "said"),
    [("/old", "301 Moved Permanently, to /new"), ("/none", r"404 Gone \x1b[31mhome")],
)
def test_missing_path_is_refused(path: str, said: str, tmp_path: Path) -> None:
    with serving(Site) as server:
        ran = refused(tmp_path, server.url, "--path", path)
    assert f"{server.url}{path} (--path) is answered with {said}" in ran.err
    assert server.requests == ["GET /", f"GET {path}"]


def test_user_defined_paths_are_not_probed_before_the_load(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        '[[operation]]\nname = "gone"\nget = "/gone"\nexpect.status = 404\n'
    )
    with serving(Site) as server:
        argv = ("web", "run", "own.toml", "--target", server.url, *SHORT, "--json")
        assert in_process(*argv, cwd=tmp_path).point["failures"] == 0
