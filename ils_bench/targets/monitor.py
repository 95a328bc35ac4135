"""Counters of a directory under cn=Monitor, if the directory has such entries and shows them.

OpenLDAP's back-monitor has such entries (slapd-monitor(5)). Entries are read by name, because a
search of the whole tree would generate an entry for each connection. Each second, a reading takes
ldap3 2 ms of CPU for five searches, which the directory counts as operations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput, WrongPassword

_TIMEOUT_S = 1.0
_BASE = "cn=Monitor"
_STATISTICS = {"bytes": "bytes_total", "pdu": "pdus_total", "entries": "entries_total"}
_THREADS = ("max", "open", "active", "pending", "backload")
_OPERATIONS = ("monitorOpInitiated", "monitorOpCompleted")
_COUNTER, _INFO = "monitorCounter", "monitoredInfo"


class DirectoryMonitor:
    """Reads cn=Monitor over a connection of its own."""

    def __init__(self, target: OpenDirectory) -> None:
        self.source = f"{_BASE} of {target.address}"
        self._target = target
        self._connection: Any = None
        self._end = contextlib.ExitStack()
        self._answered = False
        self._looked = self._full = 0

    def read(self) -> Mapping[str, float] | None:
        """Return the current counters and values; None without cn=Monitor."""
        try:
            figures = self._read()
        except Exception:
            self.close()
            raise
        self._answered = self._answered or figures is not None
        if figures is None and self._answered:
            raise ConnectionError("cn=Monitor answered before and does not now")
        return figures

    def _read(self) -> Mapping[str, float] | None:
        if self._connection is None:
            self._connection = self._connect()
            if self._connection is None:
                return None
        figures = dict(self._operations())
        if not figures:
            self.close()
            return None
        for name, entry in (("connections_total", "Total"), ("connections", "Current")):
            for _, attributes in self._search(f"cn={entry},cn=Connections", _COUNTER, below=False):
                figures |= _value(name, attributes, _COUNTER)
        for name, attributes in self._search("cn=Statistics", _COUNTER):
            if name in _STATISTICS:
                figures |= _value(_STATISTICS[name], attributes, _COUNTER)
        for name, attributes in self._search("cn=Threads", _INFO):
            if name in _THREADS:
                figures |= _value(f"threads_{name}", attributes, _INFO)
        return figures | self._pool(figures)

    def _pool(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Count all readings, and readings in which operations waited for a thread of the pool."""
        if not figures.keys() >= {"threads_active", "threads_max", "threads_pending"}:
            return {}
        self._looked += 1
        busy = figures["threads_active"] >= figures["threads_max"]
        self._full += busy and figures["threads_pending"] > 0
        return {"pool_looked_total": self._looked, "pool_full_total": self._full}

    def _connect(self) -> Any:
        from ils_bench.targets.probe import connect

        target = self._target
        try:
            return self._end.enter_context(
                connect(target.address, target.who, target.trust, whole_s=_TIMEOUT_S)
            )
        except (WrongPassword, BadInput):
            return None

    def _operations(self) -> Iterator[tuple[str, float]]:
        for name, attributes in self._search("cn=Operations", *_OPERATIONS, subtree=True):
            for attribute in _OPERATIONS:
                operation = attribute.removeprefix("monitorOp").lower()
                if operation == "completed" or name == "operations":
                    yield from _value(f"{name}_{operation}_total", attributes, attribute).items()

    def _search(
        self, base: str, *attributes: str, below: bool = True, subtree: bool = False
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the first cn, in lower case, and the attributes of each entry."""
        from ils_bench.targets.probe import search

        scope = "SUBTREE" if subtree else "LEVEL" if below else "BASE"
        dn = f"{base},{_BASE}"
        for entry in search(self._connection, dn, "(objectClass=*)", scope, *attributes):
            first = str(entry["dn"]).partition(",")[0].partition("=")[2].lower()
            yield first, entry["attributes"]

    def close(self) -> None:
        self._connection = None
        with contextlib.suppress(Exception):
            self._end.close()


def _value(name: str, attributes: Mapping[str, Any], attribute: str) -> dict[str, float]:
    values = attributes.get(attribute) or [""]
    first = values[0] if isinstance(values, (list, tuple)) else values
    try:
        return {name: float(first)}
    except ValueError:
        return {}
