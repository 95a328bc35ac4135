"""The example with two application servers, run as its page describes."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitebench.http.address import parse_address
from sitebench.http.site import probe
from sitebench.system.network import free_port
from tests.support.cli import in_process
from tests.support.programs import running_server

FOLDER = Path(__file__).parents[2] / "examples" / "app_servers"
COMMANDS = {
    "gunicorn": ("--chdir", str(FOLDER), "--workers", "1", "--bind", "127.0.0.1:{port}"),
    "granian": (
        *("--working-dir", str(FOLDER), "--interface", "wsgi"),
        *("--workers", "1", "--port", "{port}"),
    ),
}


@contextlib.contextmanager
def serving(server: str, docroot: Path) -> Iterator[str]:
    """Yield the address of a server that runs the program."""
    port = free_port()
    more = [part.format(port=port) for part in COMMANDS[server]]
    program = Path(sys.executable).with_name(server)
    url, environment = f"http://127.0.0.1:{port}", os.environ | {"DOCROOT": str(docroot)}
    argv = [program, *more, "app:app"]
    with running_server(argv, lambda: probe(parse_address(url)), env=environment):
        yield url


@pytest.mark.parametrize("server", COMMANDS)
def test_spice_efficiency_of_an_example_is_measured(server: str, tmp_path: Path) -> None:
    docroot = tmp_path / "docroot"
    assert in_process("web", "seed", "--set", "spice-static", "--to", docroot).code == 0
    with serving(server, docroot) as url:
        ran = in_process(
            *("web", "spice", "--target", url, "--programs", "inprocess=/page", "--clients", "2"),
            *("--measure", "500ms", "--warmup", "0s", "--threads", "1", "--out", "run"),
            cwd=tmp_path,
        )
    assert ran.code == 0, ran.err
    assert "SPICE efficiency" in ran.out
    left_out = [line for line in ran.err.splitlines() if "left out" in line]
    # These workloads are of SPICE and of e-commerce.
    assert len(left_out) == 6
    assert "spice-inprocess, 2 clients" in ran.err + ran.out
