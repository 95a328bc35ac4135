"""Connections counted by a server, for each way to set their lifetime."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench._engine import Engine
from sitebench.counts.source import StepTotals
from sitebench.suite_base.points import Load
from sitebench.targets.tls import ServerTls, Trust, trusting
from tests.support.cli import in_process
from tests.support.http_server import Server, page
from tests.support.programs import required_program
from tests.support.waiting import eventually
from web_bench.docroot import docroot_of
from web_bench.options import WebOptions
from web_bench.points import engine_config
from web_bench.targets import apache, nginx
from web_bench.targets.opening import OpenWeb
from web_bench.workload import Workload, parse

USERS = 2
PROBES = 10
"""The maximum number of connections for probes of a server before and after the load."""
LOAD = ("--users", str(USERS), "--threads", "1", "--rate", "100", "--warmup", "100ms")
CLOSED = 'connection.main.per = "step"\n[[operation]]\nget = "/"\n'
KEPT = '[[operation]]\nget = "/"\n'


@pytest.fixture
def server() -> Iterator[Server]:
    with page(b"hello") as counting:
        yield counting


def measured(
    server: Server, *argv: str, command: tuple[str, ...] = ("web", "run"), cwd: Path | None = None
) -> list[dict[str, Any]]:
    """Run a command at the server; return the printed points."""
    window = ("--measure", "400ms", "--json")
    ran = in_process(*command, *argv, "--target", server.url, *LOAD, *window, cwd=cwd).check(0)
    return ran.objects


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (("web", "run", "--path", "/"), True),
        (("web", "run", "--path", "/", "--keepalive"), True),
        (("web", "run", "--path", "/", "--no-keepalive"), False),
        (("web", "run", "kept.toml"), True),
        (("web", "run", "kept.toml", "--keepalive"), True),
        (("web", "run", "closed.toml"), False),
        (("web", "run", "closed.toml", "--no-keepalive"), False),
        (("ps", "run", "kept.toml"), True),
        (("ps", "run", "closed.toml"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_number_of_connections_per_request_is_the_configured_one(
    server: Server, argv: tuple[str, ...], kept: bool, tmp_path: Path
) -> None:
    (tmp_path / "kept.toml").write_text(KEPT)
    (tmp_path / "closed.toml").write_text(CLOSED)
    (point,) = measured(server, *argv[2:], command=argv[:2], cwd=tmp_path)
    requests = len(server.requests)
    assert point["operations"] > 0
    assert server.connections <= USERS + PROBES if kept else server.connections >= requests
    # All sent requests are those that the server counted, except for the probes.
    assert 0 <= requests - point["sent"] <= 8


def test_vary_compares_persistent_connections_with_closed_ones(server: Server) -> None:
    """Both levels had persistent connections: a gain between equal settings."""
    argv = ("--path", "/", "--vary", "keepalive=off,on")
    points = measured(server, *argv, command=("web", "vary"))
    connects = {
        point["spec"]["settings"]["keepalive"]: "connect" in {row["step"] for row in point["steps"]}
        for point in points
    }
    assert connects == {"false": True, "true": False}


# Counts of lanes equal the servers' logs: request by request, class by class.

WORKLOAD = """
connection.main.http = "1.0"
connection.secure = { http = "1.0", tls = true }
operation = [
  { weight = 5, file = "small" },
  { weight = 1, file = "large" },
  { name = "small-tls", weight = 2, file = "small", on = "secure" },
  { weight = 2, program = "page", size = 6250 },
]
[files.counted]
small = { sizes = [300, 900] }
large = { sizes = [200000] }
"""


LANES = 3
LINE = re.compile(r'^(\S+) .*"GET (\S+) HTTP/1.\d" (\d+)')


def loaded(workload: Workload, target: OpenWeb, *, keepalive: bool) -> dict[str, StepTotals]:
    """Load a server until a hundred requests are answered completely; return every step."""
    options = WebOptions(threads=1, keepalive=keepalive)
    engine = Engine(engine_config(Load(options, target, [workload])))
    engine.start_lanes(workload.name, LANES)
    found: dict[str, StepTotals] = {}

    def drained() -> int:
        """Return the number of running lanes."""
        snapshot = engine.drain()
        for step in snapshot.steps:
            found.setdefault(step.step, StepTotals(step.program, step.step)).add(step)
        return snapshot.lanes

    assert eventually(lambda: drained() == LANES and "request" in found)
    assert eventually(lambda: drained() == LANES and found["request"].count >= 100)
    # A stopped lane completes its begun requests.
    engine.stop_lanes(workload.name, LANES)
    assert eventually(lambda: drained() == 0)
    engine.stop()
    return found


@pytest.mark.parametrize("keepalive", [False, True])
@pytest.mark.parametrize("server", ["nginx", "apache"])
def test_every_request_is_in_the_servers_log(server: str, keepalive: bool, tmp_path: Path) -> None:
    required_program(server if server == "nginx" else "apache2")
    log = tmp_path / "access.log"
    directives = {
        "nginx": {"access_log": f"{log} combined"},
        "apache": {"CustomLog": f'"{log}" "%h:%{{remote}}p - - [%t] \\"%r\\" %>s"'},
    }[server]
    workload = parse(WORKLOAD, "counted")
    docroot = docroot_of(WebOptions(docroot=str(tmp_path / "docroot")), [workload])
    module = {"nginx": nginx, "apache": apache}[server]
    with module.serving(docroot, tls=ServerTls(), directives=directives, kinds={"page"}) as started:
        assert started.ca is not None
        target = OpenWeb(
            server,
            started.address,
            secure=started.secure,
            programs=started.programs,
            trust=trusting(Trust(), started.ca),
        )
        before = len(log.read_text().splitlines())
        steps = loaded(workload, target, keepalive=keepalive)
        # A server writes its line after the answer, and an ended server may write none.
        requests = sum(steps[each.name].count for each in workload.classes)
        assert eventually(lambda: len(log.read_text().splitlines()) == before + requests)
    lines = [LINE.findall(line)[0] for line in log.read_text().splitlines()[before:]]
    asked = Counter("page" if "page.shtml" in path else path.split("/")[2] for _, path, _ in lines)
    counts = {each.name: steps[each.name].count for each in workload.classes}
    assert {status for *_, status in lines} == {"200"}
    assert sum(step.failed for step in steps.values()) == 0
    assert asked == {
        "small": counts["small"] + counts["small-tls"],
        "large": counts["large"],
        "page": counts["page"],
    }
    connections = steps["connect"].count
    if server == "apache":  # nginx does not log the clients' ports
        assert 0 <= connections - len({client for client, *_ in lines}) <= LANES
    assert steps["request"].count == requests
    if not keepalive:
        # A lane that is stopped after a connect sends no request.
        assert 0 <= connections - requests <= LANES
    # Ten cards of a deck are exactly the mix. The last deck is incomplete, and each stopped lane
    # may have dropped one dealt card.
    fewest, most = requests // 10, (requests + LANES) // 10 + 1
    for each in workload.classes:
        assert fewest * each.weight - LANES <= counts[each.name] <= most * each.weight
