"""Code in a process of its own that has imported Locust, which patches the process it is in."""

import inspect
import json
import subprocess
import sys
from typing import Any

from tests.support.waiting import left_s


def in_locust(body: str, before: str = "") -> Any:
    """Run `body` there, after `before`, and return what it printed last, as JSON."""
    code = f"import locust\n{before}\n{inspect.cleandoc(body)}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=left_s()
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
