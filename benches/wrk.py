"""wrk, the load generator that serves as reference for the CPU time of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benches.bench import run_counted
from sitebench.errors import MeasurementFailed
from sitebench.system.programs import find_program

_REQUESTS = re.compile(
    r"^\s*(\d+) requests in ([0-9.]+)(us|ms|s|m), ([0-9.]+)([KMGT]?)B read", re.MULTILINE
)
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def find() -> str:
    return find_program("wrk", "`apt-get install wrk`")


def run(url: str, connections: int, seconds: float, *more: str) -> Mapping[str, float]:
    """Load a URL from one thread; return requests and bytes a second, and the CPU of a request."""
    argv = [find(), "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", *more, url]
    code, output, cpu_s = run_counted(argv)
    match = _REQUESTS.search(output)
    if code != 0 or match is None or "Non-2xx" in output:
        raise MeasurementFailed(f"wrk did not load {url}: {output.strip()}", "run it by hand")
    requests, took = int(match[1]), float(match[2]) * _SECONDS[match[3]]
    return {
        "requests": requests,
        "ops_per_s": requests / took,
        "bytes_per_s": float(match[4]) * _BYTES[match[5]] / took,
        "cpu_us": cpu_s / max(requests, 1) * 1e6,
    }
