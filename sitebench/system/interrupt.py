"""Ctrl-C while modules are imported: nothing has begun, so the process ends at once and quietly.

It imports next to nothing itself, because what comes before it is not covered: `signal` would
import `enum`, which takes as long as the start of Python.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found,unused-ignore]
import os


class EndingQuietly:
    """Ends the process on Ctrl-C within its block; a signal that is ignored stays so.

    An exception instead would be printed, or changed, by whatever import it interrupts.
    """

    def __enter__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)


def _end(number: int, _: object) -> None:
    os._exit(128 + number)
