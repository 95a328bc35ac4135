"""The arithmetic of docs/distribution.md, repeated from its own figures."""

import math
import re

from tests.docs.cli_page import ROOT

PAGE = " ".join((ROOT / "docs" / "distribution.md").read_text().split())
USERS, THINK_S, TIME_WAIT_S = 1_000_000, 60, 60
COMFORTABLE = 0.5
"""The highest advisable load of a thread."""


def figures(pattern: str) -> list[float]:
    """Return the numbers in the page at the groups of a pattern."""
    found = re.search(pattern, PAGE)
    assert found is not None, pattern
    return [float(each.replace(",", "")) for each in found.groups()]


def rounded(number: float, digits: int) -> str:
    return f"{round(number, -digits):,.0f}"


def engine_per_s(what: str) -> float:
    """Return the rate of one engine thread in the page's output of `sitebench calibrate`."""
    (_, _, _, engine) = figures(rf"{what} ([\d,]+) ([\d.]+) \+ ([\d.]+) ([\d,]+)")
    return engine


RATE = USERS / THINK_S
LOOKUPS, CONNECTS = engine_per_s("exchange, 64 connections"), engine_per_s("connect, bind, close")


def test_rate_and_number_of_threads_are_recomputed() -> None:
    made, comfortable = rounded(LOOKUPS, 3), rounded(LOOKUPS * COMFORTABLE, 3)
    assert f"{USERS:,} / {THINK_S} s = {rounded(RATE, 2)} lookups/s; a thread makes {made}" in PAGE
    assert f"half the time at most: {comfortable} |" in PAGE
    assert math.ceil(RATE / (LOOKUPS * COMFORTABLE)) == 1


def test_memory_and_number_of_machines_are_recomputed() -> None:
    kilobytes, megabytes = figures(r"([\d.]+) kB a user .*? and ([\d.]+) MB a worker")
    assert f"{USERS:,} x {kilobytes} kB = {USERS * kilobytes / 1e6:.1f} GB" in PAGE
    (machines, gigabytes) = figures(r"GB \| (\d+) of (\d+) GB")
    assert machines == math.ceil(USERS * kilobytes / 1e6 / (gigabytes - megabytes / 1e3))


def test_ports_and_number_of_workers_are_recomputed() -> None:
    first, last, ports = [
        *figures(r"`ip_local_port_range` (\d+) to (\d+)"),
        *figures(r"address has ([\d,]+) ports"),
    ]
    assert ports == last - first + 1
    assert f"{USERS:,} / {ports:,.0f} = {math.ceil(USERS / ports)} |" in PAGE
    first, last = figures(r'ip_local_port_range="(\d+) (\d+)"')
    widened = last - first + 1
    workers = math.ceil(USERS / widened)
    assert f"gives {widened:,.0f} | {workers} |" in PAGE
    (kilobytes,) = figures(r"([\d.]+) kB a user")
    each = USERS / workers
    assert f"**{workers} workers with addresses of their own**" in PAGE
    assert f"Each worker has {each:,.0f} users" in PAGE
    assert f"needs {rounded(each * kilobytes / 1e3, 1)} MB of memory" in PAGE
    assert f"makes {rounded(RATE / workers, 1)} lookups/s" in PAGE
    (descriptors,) = figures(r"`ulimit -n (\d+)`")
    assert descriptors > each


def test_number_of_addresses_for_new_connections_is_recomputed() -> None:
    made, threads = rounded(CONNECTS, 3), math.ceil(RATE / (CONNECTS * COMFORTABLE))
    assert f"{rounded(RATE, 2)} connects/s" in PAGE
    assert f"One thread reaches {made} connects/s" in PAGE
    assert f"so {threads} threads are enough" in PAGE
    waiting = round(RATE, -2) * TIME_WAIT_S
    assert f"{rounded(RATE, 2)} x {TIME_WAIT_S} = {rounded(waiting, 4)} ports" in PAGE
    (workers,) = figures(r"need (\d+) addresses, too")
    assert workers == math.ceil(waiting / 64_512)
