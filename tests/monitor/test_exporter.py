"""Tests with a real node_exporter, whose figures are compared with /proc of the same machine."""

import contextlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from sitebench.errors import UnknownValue
from sitebench.monitor.between import use_between
from sitebench.monitor.exporter import Exporter, metrics
from sitebench.monitor.machine import MachineReader
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Changes, MachineSample, Sample
from sitebench.options.addresses import parse_exporter
from sitebench.system.network import free_port
from tests.support.cli import in_process
from tests.support.http_server import page
from tests.support.programs import required_program, running_server
from tests.support.waiting import eventually

PATIENCE_S = 20
"""The time limit for a page on a busy machine."""


@dataclass(frozen=True)
class Running:
    url: str
    pid: int


@contextmanager
def exporting(*options: str) -> Iterator[Running]:
    """Run a node_exporter that answers."""
    program, port = required_program("prometheus-node-exporter"), free_port()
    argv = [program, f"--web.listen-address=127.0.0.1:{port}", *options]
    url = f"http://127.0.0.1:{port}/metrics"
    with running_server(argv, lambda: read(url)) as process:
        try:
            yield Running(url, process.pid)
        finally:
            process.send_signal(signal.SIGCONT)


def read(url: str) -> MachineSample:
    """Read the figures of an exporter once."""
    with contextlib.closing(Exporter(url, timeout_s=PATIENCE_S)) as exporter:
        return exporter.read()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with exporting() as exporter:
        yield exporter


Readings = tuple[MachineSample, MachineSample, MachineSample]


@pytest.fixture(scope="module")
def readings(running: Running) -> Readings:
    """The exporter's figures between two readings of /proc."""
    own = MachineReader()
    return own.read(), read(running.url), own.read()


SPENT = ("user_s", "system_s", "irq_s", "stolen_s")
"""Without idle and iowait, which may decrease by a tick: proc(5)."""
COUNTERS = (
    *("swapped_in_pages", "swapped_out_pages", "faults", "major_faults", "context_switches"),
    *("segments_out", "retransmits", "listen_overflows", "listen_drops"),
)


def between(before: Sequence[float], there: Sequence[float], after: Sequence[float]) -> bool:
    """Whether counters were read in this order; the exporter's text is rounded to 1e-9."""
    assert there
    rows = zip(before, there, after, strict=True)
    return all(low - 1e-6 <= seen <= high + 1e-6 for low, seen, high in rows)


def _counters(sample: MachineSample) -> list[float]:
    """Return every counter of the machine that both sources have, in a fixed order."""
    return [
        *(getattr(core, name) for core in sample.cores for name in SPENT),
        *(getattr(sample, name) for name in COUNTERS[:5]),
        *(getattr(sample.network, name) for name in COUNTERS[5:]),
        *(sample.pressure_s[name] for name in sorted(sample.pressure_s)),
    ]


def test_exporter_counters_lie_between_two_readings_of_proc(readings: Readings) -> None:
    before, there, after = readings
    assert len(there.cores) == os.cpu_count()
    assert between(_counters(before), _counters(there), _counters(after))
    assert there.total_bytes == before.total_bytes
    assert there.runnable is not None
    assert there.network.sockets.keys() == before.network.sockets.keys()


def test_exporter_has_the_disks_and_interfaces_of_this_machine(readings: Readings) -> None:
    before, there, after = readings
    for name, disk in there.disks.items():
        first, last = before.disks[name], after.disks[name]
        read, written = disk.read_bytes, disk.written_bytes
        assert first.read_bytes <= read <= last.read_bytes
        assert first.written_bytes <= written <= last.written_bytes
        assert first.busy_s <= disk.busy_s + 1e-6 <= last.busy_s + 2e-6
    # Debian's node_exporter omits loopback.
    ours = {name for name in before.network.interfaces if name != "lo"}
    assert there.network.interfaces.keys() - {"lo"} == ours
    for name in ours:
        one, two = before.network.interfaces[name], after.network.interfaces[name]
        assert one.in_bytes <= there.network.interfaces[name].in_bytes <= two.in_bytes
        assert one.out_packets <= there.network.interfaces[name].out_packets <= two.out_packets


def test_only_disabled_collectors_of_an_exporter_are_missing() -> None:
    with exporting("--no-collector.pressure") as exporter:
        sample = read(exporter.url)
    assert sample.pressure_s == {}
    assert sample.cores
    assert sample.network.segments_out is not None


def test_window_contains_the_resource_use_of_another_machine(running: Running) -> None:
    monitor = Monitor(None, exporter=running.url)
    start = monitor.sample()
    assert start.target_machine is not None
    assert eventually(lambda: monitor.sample().target_machine is not start.target_machine)
    used = use_between(start, monitor.sample(), 1.0)
    assert used.target_machine is not None
    assert len(used.target_machine.busy_per_core) == os.cpu_count()
    assert used.gaps == ()
    assert not used.target_is_local
    assert used.available == used.target_machine.available_bytes


def test_stopped_exporter_is_a_gap_and_delays_no_sample() -> None:
    with exporting() as exporter:
        monitor = Monitor(None, exporter=exporter.url)
        start, changes = monitor.sample(), Changes()
        assert "target-machine" in {who for who, _, _ in changes.rows(start)}
        os.kill(exporter.pid, signal.SIGSTOP)
        assert eventually(lambda: monitor.sample().answers[0].missing > 0)
        silent = monitor.sample()
        changes.rows(silent)
        again = monitor.sample()
        assert "target-machine" not in {who for who, _, _ in changes.rows(again)}
        assert silent.machine.at_s < again.machine.at_s
    (gap,) = use_between(start, again, 1.0).gaps
    assert gap.missing > 0
    assert exporter.url in gap.source
    assert "timed out" in gap.reason


def last_sample(exporter: str) -> Sample:
    """Return the sample of a monitor that has been closed, and has therefore all answers."""
    monitor = Monitor(None, exporter=exporter)
    monitor.sample()
    monitor.close()
    return monitor.sample()


def test_refused_connection_is_a_gap_from_the_start() -> None:
    end = last_sample(f"http://127.0.0.1:{free_port()}/metrics")
    (answers,) = end.answers
    assert answers.asked == answers.missing >= 1
    assert "refused" in answers.reason
    assert end.target_machine is None


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    with page(body, status) as server:
        yield f"{server.url}/metrics"


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"<html><body>hello</body></html>", 200, "not a node_exporter"),
        (b"go_goroutines 7\n", 200, "not a node_exporter"),
        (b'node_cpu_seconds_total{cpu="0" 7\n', 200, "not in Prometheus' text format"),
        (b"no", 403, "^it answered 403$"),
    ],
    ids=["web page", "exporter of other metrics", "damaged page", "refusal"],
)
def test_answer_of_no_node_exporter_is_named(body: bytes, status: int, reason: str) -> None:
    with answering(body, status) as url:
        assert re.search(reason, last_sample(url).answers[0].reason)


PAGE = """\
node_cpu_seconds_total{cpu="0",mode="idle"} 100
node_memory_MemAvailable_bytes 1e9
"""


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (PAGE.replace("1e9", "+Inf"), "its figures make no sense: OverflowError"),
        (PAGE.replace("1e9", "1e400"), "its figures make no sense: OverflowError"),
        (PAGE.replace("1e9", "NaN"), "cannot convert float NaN to integer"),
        (PAGE.replace('cpu="0",', ""), "its figures make no sense: KeyError"),
        (PAGE.replace('cpu="0"', 'cpu="x"'), "invalid literal"),
        (PAGE + 20_000 * "node_procs_running 1\n", "more than 8,000 lines"),
        (PAGE + 40_000 * "# a comment of some thirty bytes\n", "longer than 1 MiB"),
    ],
)
def test_page_with_senseless_values_is_a_one_line_error(page: str, why: str) -> None:
    with answering(page.encode()) as url:
        with pytest.raises(ValueError, match=why):
            read(url)
        point = ("--users", "1", "--measure", "100ms", "--warmup", "0s", "--entries", "10")
        ran = in_process("ils", "run", "--monitor", url, *point)
    ran.check(2, f"--monitor: {url} cannot be read: ")


@pytest.mark.parametrize(
    "sent", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "]
)
def test_trickling_exporter_times_out(sent: bytes) -> None:
    def trickle() -> None:
        connection, _ = listening.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(sent)
            while not given_up.wait(0.1):
                connection.sendall(b"#")

    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=trickle)
        thread.start()
        with pytest.raises(TimeoutError, match="takes longer than 3 s"):
            read(f"http://127.0.0.1:{listening.getsockname()[1]}/metrics")
        given_up.set()
        thread.join()


def test_only_required_metrics_are_parsed_with_labels_and_escapes() -> None:
    page = '# HELP a b\na{b="x\\ny",c="{"} 1 1395066363000\nab 2\nnot { a metric\na 3\n'
    found = metrics(page, ("a",))
    assert [(each.labels, each.value) for each in found["a"]] == [
        ({"b": "x\ny", "c": "{"}, 1.0),
        ({}, 3.0),
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("host", "http://host:9100/metrics"),
        ("host:9101", "http://host:9101/metrics"),
        ("http://host:9100/", "http://host:9100/metrics"),
        ("https://host/node/metrics", "https://host:9100/node/metrics"),
        ("http://[::1]:9100/metrics?collect[]=cpu", "http://[::1]:9100/metrics?collect[]=cpu"),
    ],
)
def test_short_address_of_an_exporter_is_completed(typed: str, meant: str) -> None:
    assert parse_exporter(typed) == meant


@pytest.mark.parametrize("typed", ["", "ftp://host", "http://", "host:port"])
def test_invalid_address_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(UnknownValue, match=r"such as http://host:9100/metrics"):
        parse_exporter(typed)


def test_address_with_a_password_is_refused_and_not_printed() -> None:
    with pytest.raises(UnknownValue) as refused:
        parse_exporter("http://somebody:secret@host")
    assert "leave them out" in str(refused.value)
    assert "secret" not in str(refused.value)


# Requests to a source are counted after they have ended.


class HangingSource:
    """A probe whose first request fails, and whose second request hangs until it is released."""

    source = "a target"

    def __init__(self) -> None:
        self.requests = 0
        self.release = threading.Event()

    def read(self) -> Mapping[str, float] | None:
        self.requests += 1
        if self.requests > 1:
            self.release.wait(10.0)
        raise TimeoutError("timed out")

    def close(self) -> None:
        self.release.set()


def test_outstanding_request_is_neither_counted_nor_missing() -> None:
    source = HangingSource()
    monitor = Monitor(None, probe=source)
    assert eventually(lambda: source.requests == 2)
    (answers,) = monitor.sample().answers
    assert (answers.asked, answers.missing) == (1, 1)
    source.release.set()
    assert eventually(lambda: monitor.sample().answers[0].asked >= 2)
    (answers,) = monitor.sample().answers
    assert answers.asked == answers.missing
