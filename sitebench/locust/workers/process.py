"""One Locust worker that ends with the process that started it (run by `python -m`)."""

from __future__ import annotations

import os
import signal

import gevent  # type: ignore[import-untyped]

from sitebench.locust.process import main
from sitebench.system.child import orphaned

_POLL_S = 1.0


def _end_with_parent() -> None:
    while not orphaned():
        gevent.sleep(_POLL_S)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    gevent.spawn(_end_with_parent)
    main()
