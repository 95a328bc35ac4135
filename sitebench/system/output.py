"""Standard output, whose reader may have enough, such as `head`."""

import os
import select
import sys
from collections.abc import Iterable


def assure_open() -> None:
    """Open what a caller has closed (`>&-`), to nowhere: else a file of ours gets its number."""
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def no_longer_read() -> bool:
    """Return whether standard output is a pipe without a reader; what is left goes nowhere.

    Python would report that again when it flushes at exit.
    """
    output = sys.stdout.fileno()
    poll = select.poll()
    poll.register(output)
    if not any(events & select.POLLERR for _, events in poll.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return True


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output, until its reader has enough."""
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
    except BrokenPipeError:
        no_longer_read()
