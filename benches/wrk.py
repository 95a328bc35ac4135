"""wrk, the load generator that serves as reference for the CPU time of a request."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

from sitebench.errors import MeasurementFailed
from sitebench.system.programs import find_program

_REQUESTS = re.compile(
    r"^\s*(\d+) requests in ([0-9.]+)(us|ms|s|m), ([0-9.]+)([KMGT]?)B read", re.MULTILINE
)
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def find() -> str:
    """Return the program's path; raise if it is missing."""
    return find_program("wrk", "`apt-get install wrk`")


def run(url: str, connections: int, seconds: float, *more: str) -> Mapping[str, float]:
    """Load a URL from one thread; return requests and bytes a second, and the CPU of a request."""
    argv = [find(), "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", *more, url]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    found = _REQUESTS.search(said)
    if process.returncode != 0 or found is None or "Non-2xx" in said:
        raise MeasurementFailed(f"wrk did not load {url}: {said.strip()}", "run it by hand")
    requests, took = int(found[1]), float(found[2]) * _SECONDS[found[3]]
    return {
        "requests": requests,
        "ops_per_s": requests / took,
        "bytes_per_s": float(found[4]) * _BYTES[found[5]] / took,
        "cpu_us": (used.ru_utime + used.ru_stime) / max(requests, 1) * 1e6,
    }
