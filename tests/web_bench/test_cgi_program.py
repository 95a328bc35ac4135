"""A user-supplied program for the CGI workloads, instead of the shipped one."""

import urllib.request
from pathlib import Path

import pytest

from tests.support.cli import in_process
from tests.support.programs import required_program
from web_bench.options import WebOptions
from web_bench.targets.opening import open_target
from web_bench.workload import find

SCRIPT = """#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
echo "mine was asked for $QUERY_STRING"
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "mine.sh"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("target", ["embedded", "nginx", "apache"])
def test_cgi_requests_run_the_user_supplied_program(target: str, script: Path) -> None:
    if target != "embedded":
        required_program("nginx" if target == "nginx" else "apache2")
    options = WebOptions(target=target, cgi_program=str(script))
    opened = open_target(options, [find("spice-cgi")])
    try:
        path = opened.programs["cgi"].format(size=9, content="constant")
        with urllib.request.urlopen(f"{opened.address}{path}", timeout=10) as answer:
            assert answer.read() == b"mine was asked for kind=constant&size=9\n"
    finally:
        opened.stop()


def test_user_supplied_cgi_program_is_measured(script: Path) -> None:
    """A point got the option together with the address of the open server, and refused it."""
    script.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n%6250s' mine\n")
    load = ("--users", 1, "--rate", 50, "--warmup", "0s", "--measure", "1s", "--threads", 1)
    point = in_process("web", "run", "spice-cgi", "--cgi-program", script, *load, "--json").point
    assert point["operations"] > 0
    assert point["spec"]["settings"]["cgi_program"] == str(script)


def test_cgi_program_is_a_stored_fact_of_the_server(script: Path) -> None:
    def known(program: Path | None, workload: str = "spice-cgi") -> object:
        options = WebOptions(cgi_program=None if program is None else str(program))
        opened = open_target(options, [find(workload)])
        opened.stop()
        return opened.facts.get("cgi_program")

    ours = known(None)
    assert isinstance(ours, str)
    assert ours == known(None) != known(script)
    assert known(None, "spice-static") is None
