"""Speed and memory of the web suite: trials and their references.

Everything runs on loopback, servers in separate processes, one thread or worker on each side.
"""

from __future__ import annotations

import math
import random
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import psutil

from benches import wrk
from benches.bench import LANES, Bench, run_lanes, temporary_folder
from benches.ratios import Trial, Values, rows_of
from sitebench._engine import Engine
from sitebench.calibrate import floor
from sitebench.errors import MeasurementFailed
from sitebench.http.address import SiteAddress
from sitebench.suite_base.embedded import open_child
from sitebench.suite_base.points import Load
from sitebench.system.programs import find_program
from web_bench.options import WebOptions
from web_bench.points import engine_config
from web_bench.targets.opening import OpenWeb, open_target
from web_bench.workload import Workload, file_set, find, parse, seed

CROWD = 600
_REQUEST_BYTES, _ANSWER_BYTES = 60, 8_192 + 190
_SMALL, _LARGE = 60, 20_000
"""Numbers of files of a million bytes: 60 MB, and 20 GB that are sparse on the disk."""

_FILES = """
[files.bench-{name}]
{name} = {{ sizes = [{size}], count = {count} }}
[[operation]]
file = "{name}"
"""
_OLD = 'connection.main.http = "1.0"\n'
FILES_8K = parse(_FILES.format(name="8k", size=8192, count=100), "bench-8k")
ONE_8K = parse(_OLD + FILES_8K.text, "bench-8k")
STANDARD = parse(find("webstone2-standard").text.replace('"1.0"', '"1.1"'), "webstone2-standard")
_WRK_MIX = """\
local cards, n = {{{cards}}}, 0
request = function()
  n = n % #cards + 1
  return wrk.format("GET", cards[n])
end
"""

ROWS = rows_of("web")


class WebBench(Bench):
    def trials(self) -> list[Trial]:
        return [
            Trial("web-connect", lambda: self._load(ONE_8K)),
            Trial("web-floor-connect", self._floor_connect),
            Trial("web-cgi", lambda: self._load(find("spice-cgi"))),
            Trial("web-apache-cgi", lambda: self._load(find("spice-cgi"), "apache")),
            Trial("web-tls", lambda: self._load(ONE_8K, tls=True, lanes=1)),
            Trial("web-s-time", self._s_time),
            Trial("web-standard", lambda: self._load(STANDARD, "nginx")),
            Trial("web-standard-wrk", self._standard_wrk),
            Trial("web-crowd", lambda: self._load(ONE_8K, lanes=CROWD)),
            Trial("web-seed", self._seed),
            Trial("web-memory", self._memory),
        ]

    def _options(self, target: str = "embedded", *, tls: bool = False) -> WebOptions:
        return WebOptions(target=target, threads=1, tls=tls)

    def _target(self, workload: Workload, target: str, *, tls: bool = False) -> OpenWeb:
        options = self._options(target, tls=tls)
        return self.opened((workload.name, options), lambda: open_target(options, [workload]))

    def _load(
        self, workload: Workload, target: str = "embedded", *, tls: bool = False, lanes: int = LANES
    ) -> Values:
        opened, options = self._target(workload, target, tls=tls), self._options(target, tls=tls)
        return engine_alone(options, opened, workload, lanes, self.seconds)

    def _standard_wrk(self) -> Values:
        """Load the same mix with wrk, in the order of a shuffled deck."""
        assert STANDARD.file_set is not None
        address = self._target(STANDARD, "nginx").address
        with temporary_folder() as folder:
            script = folder / "mix.lua"
            script.write_text(_mix_script(STANDARD))
            found = wrk.run(f"{address}/", LANES, self.seconds, "-s", str(script))
        return {"bytes_per_s": found["bytes_per_s"]}

    def _floor_connect(self) -> Values:
        exchange = floor.Exchange(_REQUEST_BYTES, _ANSWER_BYTES)
        with floor.responder(exchange) as server:
            found = floor.exchanges(server, LANES, self.seconds, reconnects=True)
        return {"ops_per_s": found.ops_per_s}

    def _s_time(self) -> Values:
        opened = self._target(ONE_8K, "embedded", tls=True)
        program = find_program("openssl", "install it")
        argv = [program, "s_time", "-new", "-www", "/bench-8k/8k/0/0.html"]
        argv += ["-connect", f"{opened.address.host}:{opened.address.port}"]
        argv += ["-time", str(max(1, round(self.seconds)))]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        found = re.search(r"(\d+) connections in (\d+) real seconds", done.stdout)
        if found is None:
            raise MeasurementFailed(f"openssl s_time failed: {done.stderr}", "run it by hand")
        return {"ops_per_s": int(found[1]) / int(found[2])}

    def _seed(self) -> Values:
        workload = find("webbench3-like")
        assert workload.file_set is not None
        with temporary_folder() as folder:
            began = time.monotonic()
            seed(workload.file_set.spec(), folder / "set")
            written = time.monotonic() - began
            began = time.monotonic()
            subprocess.run(["cp", "-r", str(folder / "set"), str(folder / "copy")], check=True)
            return {"written_s": written, "copied_s": time.monotonic() - began}

    def _memory(self) -> Values:
        """Compare the resident memory after the same load of a small and of a large set."""
        return {"small": self._resident(_SMALL), "large": self._resident(_LARGE)}

    def _resident(self, files: int) -> float:
        """Return the memory of the embedded server after a load by this process's engine."""
        workload = parse(_FILES.format(name="1m", size=1_000_000, count=files), "bench-1m")
        assert workload.file_set is not None
        with temporary_folder() as docroot:
            each = file_set(workload.file_set.spec())
            for i in range(each.count):
                path = docroot / each.path(i).lstrip("/")
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    file.truncate(each.size(i))
            options = replace(self._options(), verify="none")
            config = {"docroot": str(docroot)}
            module = "web_bench.targets.embedded"

            def make_target(host: str, ready: Mapping[str, Any]) -> OpenWeb:
                return OpenWeb("embedded", SiteAddress(host, ready["port"]))

            facts: dict[str, Any] = {"secure": False, "cgi_program": None, "access_log": False}
            with open_child(make_target, module, options, config, **facts) as opened:
                before = psutil.Process().memory_info().rss
                engine_alone(options, opened, workload, LANES, self.seconds)
                tester = max(psutil.Process().memory_info().rss - before, 0)
                return psutil.Process(opened.pid).memory_info().rss + tester


def engine_alone(
    options: WebOptions, target: OpenWeb, workload: Workload, lanes: int, seconds: float
) -> dict[str, float]:
    """Run lanes in this process, without Locust; return their rates and an operation's CPU time."""
    engine = Engine(engine_config(Load(options, target, [workload])))
    window = run_lanes(engine, workload.name, lanes, seconds)
    names = {each.name for each in workload.classes}
    steps = [step for step in window.steps if step.step in names]
    asked = sum(step.count for step in steps)
    return {
        **window.rates(lambda step: step.step in names),
        "asked": asked,
        "right": asked - sum(sum(step.failures.values()) for step in steps),
        "bytes_per_s": sum(step.counters["bytes_in"] for step in steps) / window.seconds,
    }


def _mix_script(workload: Workload) -> str:
    """Return the deck of a workload for wrk: each card one of the class's files, shuffled."""
    assert workload.file_set is not None
    name, divisor = workload.file_set.name, math.gcd(*(each.weight for each in workload.classes))
    cards = [
        f'"/{name}/{each.files.name}/0/0.html"'
        for each in workload.classes
        for _ in range(each.weight // divisor)
        if each.files is not None
    ]
    random.Random(1997).shuffle(cards)
    return _WRK_MIX.format(cards=", ".join(cards))
