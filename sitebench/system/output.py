"""Standard output, whose reader (such as `head`) can end early, and whose disk can be full."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterable
from typing import Any

from sitebench.errors import SitebenchError


class StandardOutput(io.FileIO):
    """Standard output, whose write errors are distinguished from write errors of files."""

    def __init__(self) -> None:
        super().__init__(1, "wb", closefd=False)

    def write(self, data: Any, /) -> int:
        if not data:  # click tests with this call whether the stream takes bytes
            return 0
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            _to_nowhere(self.fileno())
            raise SitebenchError(
                f"standard output cannot be written: {error.strerror}",
                "free space on its disk, or write it to another place",
            ) from error


def assure_open() -> None:
    """Open closed standard streams (`>&-`) on /dev/null, before another file gets their number."""
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    if (stream := sys.stdout) is sys.__stdout__ and isinstance(stream, io.TextIOWrapper):
        # With `python -u` output is written through, without a buffer.
        raw = StandardOutput()
        sys.stdout = io.TextIOWrapper(
            raw if stream.write_through else io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


def no_longer_read() -> bool:
    """Return whether standard output is a pipe without a reader; then drop further output."""
    output = sys.stdout.fileno()
    poll = select.poll()
    poll.register(output)
    if not any(events & select.POLLERR for _, events in poll.poll(0)):
        return False
    _to_nowhere(output)
    return True


def _to_nowhere(output: int) -> None:
    """Drop unwritten output; else Python would report the error again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output; stop if its reader has ended."""
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
    except BrokenPipeError:
        no_longer_read()
