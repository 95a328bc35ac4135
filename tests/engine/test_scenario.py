"""The reader of scenario files."""

import json
import threading
import time
from collections.abc import Callable

import pytest

from sitebench._engine import Scenario, check_scenario

STEPS = "[[operation]]\nname = 'a'\n" + "[[operation.step]]\nsearch = '(a=b)'\n" * 10_000


@pytest.mark.parametrize(
    "read",
    [
        lambda: Scenario(STEPS),
        lambda: check_scenario(json.dumps({"name": "mix", "text": STEPS}), {}),
    ],
    ids=["Scenario", "check_scenario"],
)
def test_other_threads_run_while_a_file_is_read(read: Callable[[], object]) -> None:
    """So does the handler of a signal: Ctrl-C ends a command that reads a large file."""
    reader = threading.Thread(target=read)
    reader.start()
    ticks = 0
    while reader.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 5
