"""The web suite on the embedded server, as users run it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sitebench
from sitebench.http.address import parse_address
from sitebench.runs.runfile import RunFile
from sitebench.system.machine import usable_cores
from tests.support.cli import SITEBENCH, Ran, in_process
from tests.support.waiting import left_s
from tests.web_bench.started import ask
from web_bench.options import WebOptions
from web_bench.suite import SUITE
from web_bench.targets.opening import open_target
from web_bench.targets.web_server import WebServer
from web_bench.workload import built_in, find

SHORT = ("--warmup", "0s", "--measure", "1s", "--threads", "1")
THINK = ("--think", "4ms")
"""A think time, because full speed or a program for each request would use both cores."""
OWN = """
load.clients = [2]
operation = [
  { name = "made", weight = 20, program = "inprocess", size = 700 },
  { weight = 10, program = "template", size = 6250 },
  { weight = 50, file = "page" },
  { weight = 10, head = "/own/page/0/0.html" },
  { name = "part", weight = 5, get = "/own/page/0/1.html", expect.status = 206, \
headers.Range = "bytes=10-19" },
  { name = "again", weight = 5, get = "/own/page/0/0.html", expect.status = 304, \
headers.If-None-Match = "*" },
]
[files.own]
page = { sizes = [300, 4000] }
"""
SEVERAL = """
data.page.values = ["/own/page/0/0.html", "/own/page/0/1.html"]
operation = [
  { name = "read", get = "{page}" },
  { name = "both", step = [{ get = "{page}" }, { file = "page" }, { program = "cgi", size = 90 }] },
]
[files.own]
page = { sizes = [300, 4000] }
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Ran, Path]:
    """A sweep of two workloads over two numbers of clients."""
    folder = tmp_path_factory.mktemp("swept")
    load = ("--clients", "2,3", *SHORT, *THINK, "--json", "--out", "run")
    argv = ("web", "sweep", "webbench1-static", "webbench1-heavy", *load)
    return in_process(*argv, cwd=folder, XDG_CACHE_HOME=str(cache)), folder / "run"


def measured(cache: Path, *argv: str, cwd: Path | None = None) -> dict[str, Any]:
    """Run an operation with two clients; return the printed point."""
    load = ("--users", "2", *SHORT, *THINK, "--json")
    return in_process("web", "run", *argv, *load, cwd=cwd, XDG_CACHE_HOME=str(cache)).point


def test_every_built_in_workload_is_an_operation() -> None:
    assert set(SUITE.operations) == {*built_in()}


def test_sweep_measures_each_workload_at_each_number_of_clients(swept: tuple[Ran, Path]) -> None:
    ran, path = swept
    assert ran.code == 0, ran.err
    assert [(each["operation"], each["users"], each["failures"]) for each in ran.objects] == [
        ("webbench1-static", 2, 0),
        ("webbench1-static", 3, 0),
        ("webbench1-heavy", 2, 0),
        ("webbench1-heavy", 3, 0),
    ]
    assert all(each["ops_per_s"] > 0 for each in ran.objects)
    with RunFile(path) as stored:
        assert {point.status for point in stored.points()} == {"done"}


def test_mix_is_exact_except_for_the_decks_at_the_window_edges(swept: tuple[Ran, Path]) -> None:
    ran, _ = swept
    heavy = ran.objects[-1]
    mix = heavy["figures"]["mix"]["webbench1-heavy"]
    counts = {name: each["count"] for name, each in mix.items()}
    share = counts["cgi-env"] / sum(counts.values())
    # A deck of a hundred is cut at either end. A part of it may be all ten files, 9 programs short,
    # and each client may hold a card.
    cut = 2 * 9 + heavy["users"]
    assert abs(counts["cgi-env"] - 0.9 * sum(counts.values())) <= cut, (share, counts)


def test_connections_close_after_each_request_unless_set_as_persistent(
    swept: tuple[Ran, Path], cache: Path
) -> None:
    apart = swept[0].objects[0]
    kept = measured(cache, "webbench1-static", "--keepalive")

    def connects(point: dict[str, Any]) -> int:
        return sum(step["count"] for step in point["steps"] if step["step"] == "connect")

    # Connects count operations due in the window, `operations` those that ended in it: each client
    # may have one under way at each edge.
    assert connects(apart) == pytest.approx(apart["operations"], abs=2 * apart["users"])
    # On a busy machine the clients may start within the window; each connects once.
    assert connects(kept) <= 2


def test_user_defined_workload_is_measured(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    point = measured(cache, "own.toml", "--out", "run", cwd=tmp_path)
    counts = {name: each["count"] for name, each in point["figures"]["mix"]["own"].items()}
    assert point["failures"] == 0
    assert counts.keys() == {"page", "made", "template", "head", "part", "again"}
    assert all(counts.values())
    with RunFile(tmp_path / "run") as stored:
        assert [*stored.manifest()["scenarios"].values()] == [OWN]


def test_operations_of_several_steps_have_separate_rows(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "own.toml").write_text(SEVERAL)
    point = measured(cache, "own.toml", cwd=tmp_path)
    assert point["failures"] == 0
    rows = {(each["program"], each["step"]): each["count"] for each in point["steps"]}
    requests = (("read", "get"), ("both", "get"), ("both", "file"), ("both", "program"))
    assert min(rows[row] for row in requests) > 0
    # Operations due in the window; the total counts those that ended in it.
    total = rows["read", "get"] + rows["both", "sequence"]
    assert point["operations"] == pytest.approx(total, abs=4)
    assert point["figures"]["mix"]["own"].keys() == {"read", "both"}
    tried = in_process(
        *("web", "run", "own.toml:both", "--check"), cwd=tmp_path, XDG_CACHE_HOME=str(cache)
    )
    assert (tried.code, "program" in tried.out, "read" in tried.out) == (0, True, False), tried.err
    figures = point["figures"]
    # Requests, of which one of the operations has three.
    per_s = sum(rows[row] for row in requests) / point["measure_s"]
    assert figures["requests_per_s"] == pytest.approx(per_s, rel=0.1)
    assert figures["bytes_per_request"] > 0


def test_check_sends_each_kind_of_request_once(tmp_path: Path, cache: Path) -> None:
    """The check waited for a pass, which ended with a think time of a day."""
    (tmp_path / "kinds.toml").write_text(
        '[files.own]\nsmall.sizes = [512]\n[[operation]]\nfile = "small"\n'
        '[[operation]]\nprogram = "inprocess"\nsize = 700\n'
    )
    tried = in_process(
        *("web", "run", "kinds.toml", "--check"), cwd=tmp_path, XDG_CACHE_HOME=str(cache)
    ).check(0)
    names = [line.split()[0] for line in tried.out.splitlines() if "connect" not in line]
    assert names == ["small", "file", "inprocess", "program"]


def test_server_of_the_user_is_measured_by_its_address(tmp_path: Path, cache: Path) -> None:
    in_process("web", "seed", "--set", "webbench1-static", "--to", tmp_path / "docroot").check(
        0, "100 files"
    )
    with WebServer(tmp_path / "docroot") as server:
        in_process("web", "verify", "--target", server.url).check(0)
    files = tmp_path / "docroot" / "webbench1" / "256b" / "0"
    (files / "0.html").write_bytes(b"?" * 256)
    (files / "1.html").unlink()
    with WebServer(tmp_path / "docroot") as server:
        wrong = in_process("web", "verify", "--target", server.url).check(
            1, "/webbench1/256b/0/0.html: wrong-answer"
        )
        result = sitebench.run(
            "webbench1-static", server, users=2, warmup_s=0, measure_s=1, threads=1
        )
        assert "/webbench1/256b/0/1.html: status:404" in wrong.err
        # The damaged file has 1 % of the requests, and so has the missing one.
        assert 0 < result.failures / result.point.operations < 0.05
        assert (result.valid, result.bound) == (False, "failed")
        assert "were not what was asked for (status:404 x " in result.point.verdict.evidence
        assert result.point.examples == {
            "status:404": "256b: GET /webbench1/256b/0/1.html: 404 Not Found, expected 200",
            "wrong-answer": "256b: GET /webbench1/256b/0/0.html: 200 OK, "
            "byte 0 is not that of the file",
        }
        programs = "cgi=/cgi-bin/sitebench-cgi?kind={content}&size={size}"
        point = measured(cache, "spice-cgi", "--target", server.url, "--programs", programs)
        assert point["failures"] == 0
        assert server.stats()["cgi"] >= point["steps"][0]["count"]


def test_embedded_server_runs_the_engines_cgi_program() -> None:
    with WebServer() as server:
        address = parse_address(server.url)
        constant = ask(address, "/cgi-bin/sitebench-cgi?kind=constant&size=9")
        assert (constant.status, constant.body) == (200, b"x" * 9)
        assert ask(address, "/dynamic/constant?size=5").body == b"xxxxx"
        assert ask(address, "/cgi-bin/sh").status == 404
        environment = ask(address, "/cgi-bin/sitebench-cgi")
        assert (environment.status, environment.variables["REQUEST_METHOD"]) == (200, "GET")


@contextmanager
def served(*argv: str, cwd: Path | None = None, **env: str) -> Iterator[list[str]]:
    """Run `web serve`, yield its first lines, and end it with Ctrl-C."""
    with subprocess.Popen(
        [*SITEBENCH, "web", "serve", "--port", "0", *argv],
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | {"COLUMNS": "200"} | env,
    ) as process:
        assert process.stdout is not None
        yield [process.stdout.readline() for _ in range(2)]
        process.send_signal(2)
        assert process.wait(left_s()) == 0


def test_given_folder_is_served_unchanged(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("hi\n")
    with served("--docroot", str(tmp_path)) as (first, hint):
        assert first.startswith(f"serving {tmp_path} at ")
        got = subprocess.run(hint, shell=True, capture_output=True, text=True, check=False)
        assert got.stdout == "hi\n", hint
        assert [each.name for each in tmp_path.iterdir()] == ["index.html"]


def test_files_of_a_named_workload_are_written(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("hi\n")
    named = ("--workload", "webbench1-static")
    with served("--docroot", str(tmp_path), *named) as (_, hint):
        assert (tmp_path / "webbench1").is_dir()
        command = [*SITEBENCH, *hint.split()[1:], *SHORT, *THINK, "--users", "2"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr


def test_serve_ends_with_ctrl_c_and_suggests_a_measurement(tmp_path: Path, cache: Path) -> None:
    argv = ("--workload", "webbench1-static")
    with served(*argv, cwd=tmp_path, XDG_CACHE_HOME=str(cache)) as (first, second):
        assert first.startswith("serving ")
        assert second.split()[:4] == ["sitebench", "web", "run", "webbench1-static"]


# Facts about the embedded web server.


@pytest.mark.parametrize(
    ("workload", "asked", "cores"),
    [
        ("spice-inprocess", {}, 1),
        ("spice-inprocess", {"tls": True}, 1),
        # Some requests use a second server, over TLS.
        ("ecommerce-inprocess", {}, 2),
        # CGI starts a process for each request.
        ("spice-cgi", {}, usable_cores()),
    ],
)
def test_target_cores_are_those_that_the_server_may_use(
    workload: str, asked: dict[str, Any], cores: int
) -> None:
    """CGI behind a server of one thread used 139 % of "its 1 core"."""
    options = WebOptions(target="embedded", target_threads=1, files_per_class=1, **asked)
    target = open_target(options, [find(workload)])
    try:
        assert target.cores == min(cores, usable_cores())
    finally:
        target.stop()
