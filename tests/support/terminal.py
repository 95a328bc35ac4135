"""A command at a terminal, whose width the command knows."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

from tests.support.cli import SITEBENCH
from tests.support.waiting import left_s


def at_terminal(*argv: str, cwd: Path, columns: int = 160) -> str:
    """Return a command's standard output at a terminal of this width."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with (
        os.fdopen(screen, "rb", buffering=0) as shown,
        subprocess.Popen(
            [*SITEBENCH, *argv],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**env, "TERM": "xterm"},
        ) as process,
    ):
        os.close(terminal)
        text = b""
        with contextlib.suppress(OSError):  # Linux's end of a terminal that nobody writes to.
            while part := shown.read(65_536):
                text += part
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        assert process.wait(left_s()) == 0, errors
    return text.decode().replace("\r\n", "\n")
