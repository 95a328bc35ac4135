"""The death of a load thread ends the other threads: no load continues unmeasured."""

import contextlib
import os
from pathlib import Path

import pytest

from sitebench._engine import Directory, Engine, EngineError
from tests.engine.test_engine import PEOPLE, config
from tests.support.waiting import eventually

WITHIN_S = 30.0


def threads() -> set[int]:
    """Return the load threads of this process."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # It may have ended meanwhile.
            if (task / "comm").read_text().startswith("load-"):
                found.add(int(task.name))
    return found


def polls() -> set[int]:
    """Return the epoll descriptors of this process's threads."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(descriptor.readlink()) == "anon_inode:[eventpoll]":
                found.add(int(descriptor.name))
    return found


def spoil(poll: int) -> None:
    """Make the next wait fail by replacing the descriptor with one that cannot be polled."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, poll, inheritable=False)
    os.close(nothing)


def test_stop_after_the_death_of_a_thread_ends_the_other_threads() -> None:
    directory = Directory("{}", PEOPLE)
    threads_before, polls_before = threads(), polls()
    engine = Engine(config(directory.port, threads=2), PEOPLE)
    assert eventually(lambda: len(threads() - threads_before) == 2, WITHIN_S)
    mine = threads() - threads_before
    engine.start_lanes("lookup", 4)
    assert eventually(lambda: directory.stats()["searches"] > 100, WITHIN_S)
    # The lowest descriptor was opened first: it belongs to the first thread, which is stopped
    # first.
    spoil(min(polls() - polls_before))
    assert eventually(lambda: len(threads() & mine) == 1, WITHIN_S)
    with pytest.raises(EngineError, match="ended before its time") as gone:
        engine.stop()
    assert gone.value.kind == "MeasurementFailed"
    assert eventually(lambda: not threads() & mine, WITHIN_S)
    directory.stop()
