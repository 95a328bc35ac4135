"""Work on a live directory reports its progress, and ends when its caller asks."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from sitebench._engine import Directory, EngineError, seed_directory
from tests.support.people import small_population

PEOPLE = small_population(500)


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}")
    yield serving
    serving.stop()


def where(port: int, **more: object) -> str:
    return json.dumps({"host": "127.0.0.1", "port": port, **more})


def test_progress_ends_with_the_number_of_people(directory: Directory) -> None:
    told: list[int] = []
    seed_directory(where(directory.port), PEOPLE, 0, 500, told.append)
    assert told == sorted(told)
    assert told[-1] == 500


def test_exception_of_the_progress_callback_stops_the_work(directory: Directory) -> None:
    class EnoughError(Exception):
        pass

    def stop(done: int) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        seed_directory(where(directory.port), PEOPLE, 0, 10**9, stop)


def test_keyboard_interrupt_stops_the_work(directory: Directory) -> None:
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        seed_directory(where(directory.port), PEOPLE, 0, 10**9)
    interrupt.join()


def test_python_threads_run_while_a_server_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        config = where(deaf.getsockname()[1], timeout_ms=5_000)
        failed: list[BaseException] = []

        def seed() -> None:
            with pytest.raises(EngineError, match="has not answered") as refusal:
                seed_directory(config, PEOPLE, 0, 1)
            failed.append(refusal.value)

        seeding = threading.Thread(target=seed)
        seeding.start()
        seeding.join(0.1)
        assert seeding.is_alive()
        seeding.join(30)
    assert len(failed) == 1
