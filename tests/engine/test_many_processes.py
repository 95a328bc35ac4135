"""The processes of one test together, as the site sees them: requested pages and their times."""

from __future__ import annotations

import itertools
import math
import re
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ps_bench.options import PsOptions
from ps_bench.points import engine_config
from sitebench._engine import Engine
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.scenario.script import from_text
from sitebench.suite_base.points import Load

PEOPLE = 100
PAGES = from_text(
    "p",
    'data.visitor.people = "seeded"\n[[operation]]\nname = "page"\nget = "/?user={visitor.id}"\n',
)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Site(socketserver.ThreadingTCPServer):
    """A site that answers any request, and records the time and the user of each."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.asked: list[tuple[float, int]] = []


class Visit(socketserver.BaseRequestHandler):
    server: Site

    def handle(self) -> None:
        while request := self.request.recv(65_536):
            found = re.findall(rb"user=(\d+)", request)
            self.server.asked.append((time.monotonic(), int(found[0])))
            self.request.sendall(ANSWER)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as serving:
        threading.Thread(target=serving.serve_forever, args=(0.01,)).start()
        yield serving
        serving.shutdown()


def engines(site: Site, processes: int, options: PsOptions) -> Iterator[Engine]:
    target = OpenSite("site", SiteAddress("127.0.0.1", site.server_address[1]))
    for index in range(processes):
        slot = WorkerSlot(index, processes)
        yield Engine(engine_config(Load(options, target, [PAGES], slot)))


@pytest.mark.parametrize("processes", [1, 4, 8])
def test_zipfian_shares_hold_over_several_processes(site: Site, processes: int) -> None:
    options = PsOptions(entries=PEOPLE, keys="zipfian", verify="none", threads=1)
    for index, engine in enumerate(engines(site, processes, options), 1):
        engine.start_lanes("p", 1)
        while len(site.asked) < 4_000 * index / processes:
            assert not any(step.failures for step in engine.drain().steps)
        engine.stop()
    total = len(site.asked)
    weights = [rank**-0.99 for rank in range(1, PEOPLE + 1)]
    popular = Counter(person for _, person in site.asked).most_common(3)
    for weight, (_, asked) in zip(weights, popular, strict=False):
        share = weight / sum(weights)
        # Four standard deviations: 19 %, 10 % and 6 % of the requests, plus or minus 2 %.
        assert abs(asked / total - share) < 4 * (share * (1 - share) / total) ** 0.5


def distance_from_poisson(times: list[float], rate: float) -> float:
    """Return the distance of the gaps from the exponential distribution (Kolmogorov-Smirnov)."""
    gaps = sorted(later - earlier for earlier, later in itertools.pairwise(times))
    expected = [1 - math.exp(-gap * rate) for gap in gaps]
    return max(max(e - n / len(gaps), (n + 1) / len(gaps) - e) for n, e in enumerate(expected))


def near_the_mean(times: list[float], rate: float) -> float:
    """Return the share of gaps within a fifth of the mean; Poisson arrivals have 15 %.

    Delays of requests only make gaps less even.
    """
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    return sum(abs(gap * rate - 1) < 0.2 for gap in gaps) / len(gaps)


@pytest.mark.alone
@pytest.mark.parametrize("arrivals", ["poisson", "even"])
def test_arrivals_are_poisson_unless_configured_as_even(site: Site, arrivals: str) -> None:
    """One of four tries must succeed, because requests reach the site late on a busy machine.

    The gaps, 25 ms for even arrivals and 10 ms otherwise, are long compared with such delays.
    """
    rate, seconds = (40.0, 4.0) if arrivals == "even" else (100.0, 4.5)
    options = PsOptions(entries=PEOPLE, verify="none", threads=2, rate=rate)
    if arrivals == "even":
        options = replace(options, arrivals=arrivals)

    def as_asked() -> bool:
        site.asked.clear()
        # Streams of two processes are even together only if their starts are staggered exactly.
        running = list(engines(site, 1 if arrivals == "even" else 2, options))
        for engine in running:
            engine.start_lanes("p", 4)
        begun = time.monotonic()
        time.sleep(seconds)
        lasted = time.monotonic() - begun
        for engine in running:
            engine.stop()
        times = sorted(at for at, _ in site.asked)
        # Five standard deviations, and some for arrivals that were cut off or due before the first
        # lane.
        if abs(len(times) - rate * lasted) >= 5 * (rate * lasted) ** 0.5:
            return False
        if arrivals == "even":
            return near_the_mean(times, rate) > 0.5
        # 1.95 is exceeded once in a thousand; the limit has room for delayed requests.
        return distance_from_poisson(times, rate) < 3 / math.sqrt(len(times))

    assert any(as_asked() for _ in range(4))
