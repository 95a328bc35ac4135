"""Counts for listeners of a locustfile, as native lanes fire no `events.request`.

An event for each of a million operations would make Locust's thread the limit. So Locust's
statistics and these listeners get counts twice a second, in the process that commands the test.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from sitebench.counts.source import Drained, StepRecord, ended

__all__ = ["StepRecord", "on_drain"]

log = logging.getLogger("sitebench")

Listener = Callable[[Sequence[StepRecord]], object]
_listeners: list[Listener] = []


def on_drain(listener: Listener) -> Listener:
    _listeners.append(listener)
    return listener


def call_listeners(drained: Drained) -> None:
    """Call every listener; log its exceptions, as Locust does for listeners of events."""
    if _listeners:
        steps = [*ended(drained)]
        for listener in _listeners:
            try:
                listener(steps)
            except Exception:
                log.exception("a listener of drains failed")
