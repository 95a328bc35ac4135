"""Signals that end a command: Ctrl-C, SIGTERM, and SIGHUP of a closed terminal.

While modules are imported, Ctrl-C ends the process at once and quietly, except during the imports
of this module. So this module imports little. (`signal` would import `enum`, which takes as long as
the start of Python.)
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found,unused-ignore]
import os
import stat


class EndingQuietly:
    """Ends the process at Ctrl-C in its block; an import would print or replace the exception."""

    def __enter__(self) -> None:
        self._previous_handler = signal.getsignal(signal.SIGINT)
        if self._previous_handler is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous_handler)


def _end(number: int, _: object) -> None:
    os._exit(128 + number)


def ending() -> tuple[int, ...]:
    """Return the signals that end a command, except SIGHUP if the process ignores it (nohup)."""
    hang_up = () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)


def end_in_order() -> None:
    """Treat SIGTERM and SIGHUP as Ctrl-C: stop targets, and keep results."""
    for number in ending():
        if number == signal.SIGTERM:
            signal.signal(number, signal.default_int_handler)
        elif number == signal.SIGHUP:
            signal.signal(number, _interrupt_once)


def _interrupt_once(number: int, _: object) -> None:
    hang_up(number)
    raise KeyboardInterrupt


def hang_up(number: int) -> None:
    """Ignore further signals of this kind, and write nothing to the closed terminal.

    Both the kernel and the shell send SIGHUP, and a write error would end the clean-up.
    """
    signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        try:
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                os.dup2(null, stream)
        except OSError:
            continue
