"""People are added to a live directory and removed once, over real sockets."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from sitebench._engine import Directory, EngineError, remove_people, seed_directory
from tests.support.people import small_population

PEOPLE = small_population(500)


@pytest.fixture
def directory() -> Iterator[Directory]:
    serving = Directory("{}")
    yield serving
    serving.stop()


def where(port: int, **more: object) -> str:
    return json.dumps({"host": "127.0.0.1", "port": port, **more})


def entries(directory: Directory) -> int:
    return directory.stats()["entries"]


def test_people_are_added_once_and_removed_once(directory: Directory) -> None:
    config = where(directory.port)
    suffix = entries(directory)
    with_container = suffix + 1
    for added in (500, 0):
        assert seed_directory(config, PEOPLE, 0, 500) == added
        assert entries(directory) == with_container + 500
    assert remove_people(config, PEOPLE, 100, 600) == 400
    assert remove_people(config, PEOPLE, 100, 600) == 0
    assert entries(directory) == with_container + 100


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


def test_missing_server_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match=f"127.0.0.1:{port}"):
        seed_directory(where(port), PEOPLE, 0, 1)


def test_base_of_another_directory_is_refused(directory: Directory) -> None:
    with pytest.raises(EngineError, match="ou=Elsewhere"):
        seed_directory(where(directory.port, base="ou=Elsewhere,o=Intranet"), PEOPLE, 0, 1)
