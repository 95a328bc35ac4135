"""Code in a separate process that has imported Locust, which patches its process."""

import inspect
import json
from typing import Any

from tests.support.locusts import run_locust


def in_locust(body: str, before: str = "") -> Any:
    """Run `before` and `body` there, and return the last printed line, parsed as JSON."""
    source = f"{before}\n{inspect.cleandoc(body)}"
    ran = run_locust(source, main="tests.support.preloaded:code")
    assert ran.code == 0, ran.err
    return json.loads(ran.out.splitlines()[-1])
