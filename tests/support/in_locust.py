"""Code in a process of its own that has imported Locust, which patches the process it is in.

It is forked as Locust workers are: Locust, and what suites measure, are imported.
"""

import contextlib
import fcntl
import inspect
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sitebench.system.forked import fork
from sitebench.system.secret import FIRST_DESCRIPTOR
from tests.support.waiting import left_s


def in_locust(body: str, before: str = "") -> Any:
    """Run `body` there, after `before`, and return what it printed last, as JSON."""
    code = f"{before}\n{inspect.cleandoc(body)}"
    said, printed = os.memfd_create("said"), os.memfd_create("printed")
    high = fcntl.fcntl(printed, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    try:
        process = fork(
            "tests.support.forked_worker:main",
            ["", "", str(Path.cwd()), __name__, str(high), code],
            output=said,
            environment=os.environ,
            descriptors=[high],
        )
        try:
            ended = process.wait(left_s())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert ended == 0, _content(said)
        return json.loads(_content(printed).splitlines()[-1])
    finally:
        for each in (said, printed, high):
            os.close(each)


def _content(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def _run(printed: str, code: str) -> None:
    os.dup2(int(printed), sys.stdout.fileno())
    os.close(int(printed))
    exec(code, {"__name__": "__main__"})


if __name__ == "__main__":
    _run(*sys.argv[1:])
