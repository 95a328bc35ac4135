"""Code in a separate process that has imported Locust, which patches its process."""

import contextlib
import inspect
import json
import os
import signal
import tempfile
from typing import Any

from tests.support.fork_server import Forked
from tests.support.waiting import left_s


def in_locust(body: str, before: str = "") -> Any:
    """Run `before` and `body` there, and return the last printed line, parsed as JSON."""
    source = f"{before}\n{inspect.cleandoc(body)}"
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        process = Forked(
            "tests.support.preloaded:code",
            [source],
            output=printed.fileno(),
            errors=errors.fileno(),
            environment=os.environ,
        )
        try:
            code = process.wait(left_s())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        assert code == 0, errors.read()
        printed.seek(0)
        return json.loads(printed.read().splitlines()[-1])
