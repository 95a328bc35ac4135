"""What lanes did, for listeners of a locustfile: lanes fire no `events.request`.

An event for each of a million operations would make Locust's thread the limit. Its statistics, and
who listens here, get counts: twice a second, in the process that commands the test.
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
    """Register a function that is called with each step's counts since its last call."""
    _listeners.append(listener)
    return listener


def tell(drained: Drained) -> None:
    """Call the listeners; an exception of a listener is logged, as those of Locust's events are."""
    if _listeners:
        steps = [*ended(drained)]
        for listener in _listeners:
            try:
                listener(steps)
            except Exception:
                log.exception("a listener of drains failed")
