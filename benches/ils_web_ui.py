"""Lookups while a page shows the web UI, compared with the same lookups headless.

A page is simulated twice: by a client that sends all requests of the Live tab at the same
intervals, so that the work of Locust's process is the only difference; and by a Chromium. The
Chromium renders in software on the cores that directory and lanes need, which it would not do on a
user's machine. Its CPU use is therefore measured, and the rate is compared with the rate on the
remaining cores.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import psutil

from benches.bench import measured, temporary_folder
from benches.ratios import Skipped, Values
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.target import OpenDirectory
from sitebench.options.convert import narrow, to_argv
from sitebench.system.machine import usable_cores
from sitebench.system.network import free_port
from sitebench.system.secret import WEB_TOKEN

WINDOW_S = 10.0
"""At least five times the page's interval between two requests."""
WARMUP_S = 5.0
"""After this time a Chromium has started and rendered the page."""
POLLED_S = {"/stats/requests": 2.0, "/sitebench/live.json": 2.0, "/logs": 5.0}
"""Requests of the page while its Live tab is open, and their intervals."""
ANSWERS_S = 60.0
_TOKEN = secrets.token_urlsafe(16)
_SILENT: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)

Look = Callable[[str, float], float]
"""Shows a page for some seconds, and returns the cores used meanwhile."""


def looked_at(options: IlsOptions, target: OpenDirectory, seconds: float) -> Values | Skipped:
    """Measure headless, with a polling client and, if available, with a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return Skipped("chromium is not installed")
    asked = replace(options, warmup=WARMUP_S, measure=max(WINDOW_S, seconds))
    headless = measured(POINTS.test(asked, "lookup").at(target)).ops_per_s
    polled, _ = _in_ui(asked, target, _poll)
    drawn, browser = _in_ui(asked, target, partial(_draw, chromium))
    cores = usable_cores()
    return {
        "headless": headless,
        "polled": polled,
        "drawn": drawn,
        "browser_cores": browser,
        # The rate on the remaining cores: all cores except those of the browser.
        "left": headless * (cores - browser) / cores,
    }


def _in_ui(options: IlsOptions, target: OpenDirectory, look: Look) -> tuple[float, float]:
    """Return the rate of the same lookups, commanded over the web UI, and the cores of `look`."""
    test, port = POINTS.test(options, "lookup"), free_port()
    asked = replace(options, target=str(target.address))
    argv = [sys.executable, "-m", "locust", "-f", str(test.locustfile), "--loglevel", "ERROR"]
    argv += ["--web-port", str(port), *to_argv(narrow(POINTS.locust_options, asked))]
    argv += test.user_classes
    root = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(argv, env={**os.environ, WEB_TOKEN: _TOKEN}, **_SILENT)
    try:
        _await(root)
        users = {"user_count": options.users, "spawn_rate": options.users}
        _ask(f"{root}/swarm", {**users, "user_classes": test.user_classes[0]})
        used = look(root, options.warmup + (options.measure or 0.0))
        while _ask(f"{root}/sitebench/live.json")["busy"]:
            time.sleep(0.2)
        return _ask(f"{root}/sitebench/live.json")["tests"][-1]["per_s"], used
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(ANSWERS_S)


def _poll(root: str, seconds: float) -> float:
    """Send the requests of the page; this takes almost no CPU time of this process."""
    began = time.monotonic()
    due = dict.fromkeys(POLLED_S, began)
    while (now := time.monotonic()) < began + seconds:
        for path, every_s in POLLED_S.items():
            if now >= due[path]:
                due[path] += every_s
                _ask(root + path)
        time.sleep(max(0.0, min(due.values()) - time.monotonic()))
    return 0.0


def _draw(chromium: str, root: str, seconds: float) -> float:
    """Have a Chromium show the page; return the cores that it used."""
    argv = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    argv += ["--disable-background-networking", "--remote-debugging-port=0"]
    with temporary_folder() as folder:
        argv += ["--window-size=1300,1000", f"--user-data-dir={folder}/profile"]
        argv.append(f"{root}/?token={_TOKEN}&tab=sitebench-live")
        process = subprocess.Popen(argv, start_new_session=True, **_SILENT)
        try:
            time.sleep(WARMUP_S)
            before = _cpu_s(process.pid)
            began = time.monotonic()
            time.sleep(seconds - WARMUP_S)
            return (_cpu_s(process.pid) - before) / (time.monotonic() - began)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(ANSWERS_S)


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process and its children."""
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    times = [each.cpu_times() for each in family if each.is_running()]
    return float(sum(each.user + each.system for each in times))


def _await(root: str) -> None:
    give_up = time.monotonic() + ANSWERS_S
    while True:
        try:
            urllib.request.urlopen(_request(f"{root}/"), timeout=10).close()
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
        else:
            return


def _request(url: str, data: bytes | None = None) -> urllib.request.Request:
    return urllib.request.Request(url, data, {"Authorization": f"Bearer {_TOKEN}"})


def _ask(url: str, form: dict[str, Any] | None = None) -> Any:
    data = None if form is None else urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(_request(url, data), timeout=ANSWERS_S) as answer:
        return json.loads(answer.read())
