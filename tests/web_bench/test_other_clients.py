"""The embedded server with foreign clients: ab, wrk and curl."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import required_program
from web_bench.docroot import docroot_of
from web_bench.options import WebOptions
from web_bench.targets.web_server import WebServer
from web_bench.workload import find


@pytest.fixture(scope="module")
def docroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "docroot"
    found = docroot_of(WebOptions(docroot=str(folder)), [find("webbench1-static")])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def server(docroot: Path) -> Iterator[WebServer]:
    with WebServer(docroot) as server:
        yield server


def files(docroot: Path) -> list[Path]:
    """Return the files of the docroot, smallest first."""
    return sorted((each for each in docroot.rglob("*") if each.is_file()), key=size)


def size(path: Path) -> int:
    return path.stat().st_size


def run(*argv: str | Path, timeout_s: float = 60) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kept", [False, True], ids=["a connection per request", "kept"])
def test_ab_reports_no_failed_request_for_files(
    server: WebServer, docroot: Path, kept: bool
) -> None:
    ab, requests = required_program("ab"), 2_000
    asked = files(docroot)[len(files(docroot)) // 2]
    url = f"{server.url}/{asked.relative_to(docroot)}"
    said = run(ab, *(["-k"] if kept else []), "-n", str(requests), "-c", "8", url)
    counts = {
        name: int(n) for name, n in re.findall(r"^(.+?):\s+(\d+)(?:\s|$)", said, re.MULTILINE)
    }
    assert counts["Complete requests"] == requests
    assert counts["Failed requests"] == 0
    assert "Non-2xx" not in said
    assert counts["Document Length"] == size(asked)
    assert counts["HTML transferred"] == requests * size(asked)
    assert counts.get("Keep-Alive requests", 0) == (requests if kept else 0)


@pytest.mark.parametrize("path", ["/cgi-bin/sitebench-cgi", "/dynamic/page.shtml"])
def test_ab_reports_no_failed_request_of_a_program(server: WebServer, path: str) -> None:
    said = run(required_program("ab"), "-l", "-n", "100", "-c", "4", f"{server.url}{path}")
    assert re.search(r"Complete requests:\s+100\n", said)
    assert re.search(r"Failed requests:\s+0\n", said)
    assert "Non-2xx" not in said


def test_wrk_reports_no_error(server: WebServer, docroot: Path) -> None:
    url = f"{server.url}/{files(docroot)[0].relative_to(docroot)}"
    said = run(required_program("wrk"), "-t1", "-c32", "-d1s", url)
    assert re.search(r"[1-9]\d* requests in", said)
    assert "Socket errors" not in said
    assert "Non-2xx" not in said


def test_curl_gets_every_file_unchanged(server: WebServer, docroot: Path, tmp_path: Path) -> None:
    paths = [each.relative_to(docroot) for each in files(docroot)]
    config = "".join(f'url = "{server.url}/{each}"\noutput = "{each}"\n' for each in paths)
    (tmp_path / "urls").write_text(f"create-dirs\nfail\n{config}")
    fetch = (required_program("curl"), "--silent", "--show-error", "--config", tmp_path / "urls")
    run(*fetch, "--output-dir", tmp_path / "got")
    assert len(paths) > 90
    for each in paths:
        assert (tmp_path / "got" / each).read_bytes() == (docroot / each).read_bytes(), each


def test_curl_gets_answers_as_http_requires(server: WebServer, docroot: Path) -> None:
    asked = files(docroot)[-1]
    url = f"{server.url}/{asked.relative_to(docroot)}"

    def status(*arguments: str) -> str:
        curl = (required_program("curl"), "--silent", "--output", "/dev/null")
        return run(*curl, "--write-out", "%{http_code} %{size_download}", *arguments)

    modified = re.search(r"(?mi)^last-modified: (.+?)\s*$", run("curl", "--silent", "--head", url))
    assert modified is not None
    assert status(url) == f"200 {size(asked)}"
    assert status("--http1.0", url) == f"200 {size(asked)}"
    assert status("--head", url).startswith("200 ")
    assert status("--header", f"If-Modified-Since: {modified[1]}", url) == "304 0"
    assert status("--range", "0-99", url) == "206 100"
    assert status(f"{server.url}/no/such/file").startswith("404 ")
    assert status("--path-as-is", f"{server.url}/../../etc/passwd")[:3] in ("400", "404")
    assert status("--request", "DELETE", url)[:3] in ("405", "501")
