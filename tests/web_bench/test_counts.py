"""What lanes count is what the servers log: request by request, class by class."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sitebench._engine import Engine
from sitebench.counts.source import StepTotals
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.targets.tls import ServerTls, Trust, trusting
from tests.support.programs import required_program
from tests.support.waiting import eventually
from web_bench.docroot import docroot_of
from web_bench.engine_config import engine_config
from web_bench.options import WebOptions
from web_bench.targets import apache, nginx
from web_bench.targets.open_web import OpenWeb
from web_bench.workload import Workload, parse

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
    """Load a server until a hundred requests are answered, to the last one; return every step."""
    options = WebOptions(threads=1, keepalive=keepalive)
    engine = Engine(engine_config(options, target, [workload], slot=WorkerSlot()))
    engine.start_lanes(workload.name, LANES)
    found: dict[str, StepTotals] = {}

    def drained() -> int:
        """Return how many lanes run."""
        snapshot = engine.drain()
        for step in snapshot.steps:
            found.setdefault(step.step, StepTotals(step.program, step.step)).add(step)
        return snapshot.lanes

    assert eventually(lambda: drained() == LANES and "request" in found)
    assert eventually(lambda: drained() == LANES and found["request"].count >= 100)
    # A lane that is told to stop ends what it has begun.
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
        # A server writes its line after the answer, and one that is ended may write none.
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
        # A lane that is told to stop when it has connected asks for nothing.
        assert 0 <= connections - requests <= LANES
    # Ten cards of a deck are exactly the mix. The last deck is cut short, and of those that were
    # dealt each lane may have left one, as it was told to stop.
    fewest, most = requests // 10, (requests + LANES) // 10 + 1
    for each in workload.classes:
        assert fewest * each.weight - LANES <= counts[each.name] <= most * each.weight
