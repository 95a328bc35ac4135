"""Counters of another machine, on which Prometheus' node_exporter runs.

A request names the collectors that are needed (`collect[]`), which saves both machines work. An
exporter without one of these collectors refuses the request, and then gets a request for all
metrics.
"""

from __future__ import annotations

import http.client
import io
import re
import time
import urllib.parse
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from sitebench.monitor import texts
from sitebench.monitor.sample import (
    CoreSample,
    DiskSample,
    InterfaceSample,
    MachineSample,
    NetworkSample,
)

if TYPE_CHECKING:
    from prometheus_client.samples import Sample as Metric

_TIMEOUT_S = 1.0
_WHOLE_S = 3.0
"""Time limit of a whole answer; `_TIMEOUT_S` limits each read."""
_LARGEST = 1 << 20
"""The largest page in bytes; usual pages have 60 KB."""
_MOST_LINES = 8_000
"""Largest number of lines of needed metrics; a machine of 512 cores has some 5,000."""

_COLLECTORS = (
    *("cpu", "diskstats", "meminfo", "netclass", "netdev", "netstat"),
    *("pressure", "sockstat", "stat", "vmstat"),
)
_PRESSURES = {
    "cpu.some": "node_pressure_cpu_waiting_seconds_total",
    "io.some": "node_pressure_io_waiting_seconds_total",
    "io.full": "node_pressure_io_stalled_seconds_total",
    "memory.some": "node_pressure_memory_waiting_seconds_total",
    "memory.full": "node_pressure_memory_stalled_seconds_total",
}
_SOCKETS = {
    state: (f"node_sockstat_TCP_{name}", f"node_sockstat_TCP6_{name}")
    for name, state in texts.SOCKETS.items()
}
_DISKS = tuple(
    f"node_disk_{counter}"
    for counter in ("read_bytes_total", "written_bytes_total", "io_time_seconds_total", "io_now")
)
_INTERFACES = tuple(
    f"node_network_{way}_{counter}_total"
    for counter in ("bytes", "packets", "drop")
    for way in ("receive", "transmit")
)
_SPEED = "node_network_speed_bytes"
_VIRTUAL = ("lo", "veth", "docker", "br-", "virbr", "tap", "tun", "ifb", "dummy", "cni", "flannel")
"""Prefixes of interfaces whose reported speed has no meaning."""

_CPU, _RUNNING = "node_cpu_seconds_total", "node_procs_running"
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_AVAILABLE = "node_memory_MemAvailable_bytes"
_MACHINE = {
    "total_bytes": "node_memory_MemTotal_bytes",
    "blocked": "node_procs_blocked",
    "context_switches": "node_context_switches_total",
    **{figure: f"node_vmstat_{name}" for figure, name in texts.PAGING.items()},
}
_TCP = {figure: f"node_netstat_{name}" for figure, name in texts.TCP.items()}
_WANTED = frozenset(
    (
        *(_CPU, _RUNNING, _AVAILABLE, _SPEED, *_DISKS, *_INTERFACES),
        *(*_MACHINE.values(), *_TCP.values(), *_PRESSURES.values()),
        *(name for names in _SOCKETS.values() for name in names),
    )
)


class _Received(io.RawIOBase):
    """The bytes of a connection, until the time limit of an answer."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw, self._end = raw, time.monotonic() + _WHOLE_S

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() > self._end:
            raise TimeoutError(f"its answer takes longer than {_WHOLE_S:g} s")
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.fp = io.BufferedReader(_Received(self.fp.detach()))


class Exporter:
    """A node_exporter, read over one persistent connection."""

    def __init__(self, url: str, timeout_s: float = _TIMEOUT_S) -> None:
        self.url = url
        parts = urllib.parse.urlsplit(url)
        secure = parts.scheme == "https"
        connection_class = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = connection_class(parts.hostname or "", parts.port, timeout=timeout_s)
        self._connection.response_class = _Answer
        self._path = parts.path or "/metrics"
        self._query = parts.query or "&".join(f"collect[]={name}" for name in _COLLECTORS)
        self._runnable_sum = 0
        self._readings = 0

    def read(self) -> MachineSample:
        """Read the counters now; raises OSError, HTTPException or ValueError."""
        try:
            status, text = self._get()
            if status == http.client.BAD_REQUEST and self._query:
                self._query = ""
                status, text = self._get()
        except Exception:
            self.close()
            raise
        if status != http.client.OK:
            raise ValueError(f"it answered {status}")
        try:
            return self._sample(metrics(text, _WANTED))
        # A number can be +Inf, or a metric can lack its labels.
        except (ArithmeticError, LookupError) as error:
            fault = f"{type(error).__name__}: {error}"
            raise ValueError(f"its figures make no sense: {fault}") from error

    def _get(self) -> tuple[int, str]:
        path = f"{self._path}?{self._query}" if self._query else self._path
        self._connection.request("GET", path)
        with self._connection.getresponse() as answer:
            page = answer.read(_LARGEST + 1)
        if len(page) > _LARGEST:
            raise ValueError("its page is longer than 1 MiB")
        return answer.status, page.decode(errors="replace")

    def close(self) -> None:
        self._connection.close()

    def _sample(self, metrics: Mapping[str, list[Metric]]) -> MachineSample:
        if _CPU not in metrics or _AVAILABLE not in metrics:
            raise ValueError(
                "it is not a node_exporter, or one without its cpu and meminfo collectors"
            )
        running = _whole(metrics, _RUNNING)
        # The exporter counts itself as running.
        runnable = None if running is None else max(0, running - 1)
        if runnable is not None:
            self._runnable_sum += runnable
            self._readings += 1
        return MachineSample(
            at_s=time.monotonic(),
            cores=_cores(metrics[_CPU]),
            available_bytes=_whole(metrics, _AVAILABLE) or 0,
            runnable=runnable,
            runnable_sum=self._runnable_sum,
            readings=self._readings,
            pressure_s={
                name: metrics[metric][0].value
                for name, metric in _PRESSURES.items()
                if metric in metrics
            },
            disks=_disks(metrics),
            network=_network(metrics),
            **{figure: _whole(metrics, name) for figure, name in _MACHINE.items()},
        )


def metrics(text: str, names: Collection[str]) -> dict[str, list[Metric]]:
    """Return the metrics of these names, by name, from a page in Prometheus' text format."""
    # Imported late: the import takes 0.1 s, and most runs have no exporter.
    from prometheus_client.parser import text_string_to_metric_families

    lines = [line for line in text.split("\n") if _NAME_END.split(line, 1)[0] in names]
    if len(lines) > _MOST_LINES:
        raise ValueError(f"its page has more than {_MOST_LINES:,} lines of what is monitored")
    samples: dict[str, list[Metric]] = {}
    try:
        for family in text_string_to_metric_families("\n".join(lines) + "\n"):
            for sample in family.samples:
                samples.setdefault(sample.name, []).append(sample)
    except ValueError as error:
        raise ValueError(f"its answer is not in Prometheus' text format: {error}") from error
    return samples


_NAME_END = re.compile(r"[{ \t]")


def _whole(metrics: Mapping[str, list[Metric]], name: str) -> int | None:
    return int(metrics[name][0].value) if name in metrics else None


def _cores(times: list[Metric]) -> tuple[CoreSample, ...]:
    by_core: dict[int, dict[str, float]] = {}
    for sample in times:
        by_core.setdefault(int(sample.labels["cpu"]), {})[sample.labels["mode"]] = sample.value
    return tuple(
        texts.core(modes.get(mode, 0.0) for mode in _MODES) for _, modes in sorted(by_core.items())
    )


def _by_device(
    metrics: Mapping[str, list[Metric]], names: tuple[str, ...]
) -> dict[str, list[float]]:
    """Return the values of each device, in the order of `names`; 0 for a missing value."""
    devices: dict[str, list[float]] = {}
    for n, name in enumerate(names):
        for sample in metrics.get(name, ()):
            row = devices.setdefault(sample.labels.get("device", ""), [0.0] * len(names))
            row[n] = sample.value
    return devices


def _disks(metrics: Mapping[str, list[Metric]]) -> dict[str, DiskSample]:
    return {
        name: DiskSample(int(read), int(written), busy_s, int(in_flight))
        for name, (read, written, busy_s, in_flight) in _by_device(metrics, _DISKS).items()
        if read or written
    }


def _network(metrics: Mapping[str, list[Metric]]) -> NetworkSample:
    interfaces = {
        name: InterfaceSample(int(v[0]), int(v[1]), int(v[2]), int(v[3]), int(v[4] + v[5]))
        for name, v in _by_device(metrics, _INTERFACES).items()
        if v[2] or v[3]
    }
    return NetworkSample(
        interfaces,
        **{figure: _whole(metrics, name) for figure, name in _TCP.items()},
        sockets={
            state: sum(_whole(metrics, name) or 0 for name in names)
            for state, names in _SOCKETS.items()
            if names[0] in metrics
        },
        speeds={
            speed.labels.get("device", ""): int(speed.value) * 8
            for speed in metrics.get(_SPEED, ())
            if speed.value > 0 and not speed.labels.get("device", "").startswith(_VIRTUAL)
        },
    )
