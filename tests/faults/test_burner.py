"""Servers beside a CPU burner of two threads: other programs are named, and no figure is certified.

The other servers of docs/verdict.md, and these servers alone, are judged by stored recordings of
their runs (tests/verdict/test_others.py).
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sitebench.system.network import free_port
from tests.faults.holding import Pids, burners, grades, ignite, measured
from tests.support.programs import required_program, running_server

pytestmark = pytest.mark.alone
"""The burner uses all cores."""

SITE = """
def app(environ, start):
    sum(each * each for each in range(60_000))
    start("200 OK", [("Content-Length", "5")])
    return [b"hello"]
"""

PROXY = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{site}; }} }}
}}
"""


@contextlib.contextmanager
def burner() -> Iterator[Callable[[Pids], None]]:
    """Prepare two high-priority programs that each use a core; return a function to start them."""
    with burners(2) as waiting:

        def loose(_: Pids) -> None:
            for each in waiting:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, each.pid, -15)
                    Path(f"/proc/{each.pid}/autogroup").write_text("-15")
                ignite(each)

        yield loose


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    """A site of two workers behind nginx; its port."""
    site, port = free_port(), free_port()
    (tmp_path / "pages.py").write_text(SITE)
    (tmp_path / "nginx.conf").write_text(PROXY.format(folder=tmp_path, port=port, site=site))
    gunicorn = (sys.executable, "-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{site}", "pages:app")
    nginx = (str(required_program("nginx")), "-c", str(tmp_path / "nginx.conf"))
    with (
        running_server(gunicorn, site, cwd=tmp_path, start_new_session=True),
        running_server(nginx, port, cwd=tmp_path, start_new_session=True),
    ):
        yield port


def test_site_behind_a_proxy_is_limited_by_other_programs_only_beside_a_burner(
    proxy: int, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{proxy}"
    run = ("web", "run", "--path", "/", "--target", url, "--users", "10", "--threads", "1")
    alone = measured(tmp_path, *run)
    (behind,) = alone["resources"]["behind"]
    assert "gunicorn" in behind["name"] or "python" in behind["name"]
    assert behind["cpu_s"] > 0.1
    assert "proxied" in {each["kind"] for each in alone["warnings"]}
    beside = tmp_path / "beside"
    beside.mkdir()
    with burner() as loose:
        point = measured(beside, *run, held=loose)
    assert (point["verdict"], point["grade"]) == ("others", "at least"), point["evidence"]
    assert grades(point)["cpu"] == "taken"
    assert "idle" not in str(point["bottlenecks"])
    # On a shared machine, even the run without the burner has other programs beside it.
    cores = len(alone["resources"]["machine"]["busy_per_core"])
    others = sum(alone["resources"]["machine"]["busy_per_core"]) - behind["cpu_s"] / 2.0
    assert alone["verdict"] != "others" or others > 0.5 * cores, alone["evidence"]


def test_directory_with_four_users_is_limited_by_a_cpu_burner(tmp_path: Path) -> None:
    run = ("ils", "run", "lookup", "--entries", "1k", "--users", "4", "--threads", "1")
    with burner() as loose:
        point = measured(tmp_path, *run, held=loose)
    assert (point["verdict"], point["grade"]) == ("others", "at least"), point["evidence"]
    assert "and other programs used" in point["evidence"]
