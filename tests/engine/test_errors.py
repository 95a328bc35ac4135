"""Errors of the engine have a kind, whatever text a server contributes."""

import itertools
import json
import re
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sitebench import errors
from sitebench._engine import (
    Directory,
    LdifCount,
    NullResponder,
    Population,
    Scenario,
    check_scenario,
    remove_people,
    seed_directory,
)
from sitebench.errors import EXIT_BAD_INPUT, EXIT_FAILED, SitebenchError
from sitebench.system.native_errors import translated
from tests.support.people import small_population
from tests.support.relay import relayed
from tests.support.waiting import eventually

KIND = Path(__file__).parents[2] / "native/tester/engine/src/kind.rs"
PEOPLE = small_population(3_000)
PIECES = 10
"""A chunk of a server's text answers for at most 64 people."""


@contextmanager
def serving(config: dict[str, Any], people: Population | None = None) -> Iterator[Directory]:
    directory = Directory(json.dumps(config), people)
    try:
        yield directory
    finally:
        directory.stop()


@contextmanager
def saying(what: bytes) -> Iterator[int]:
    """Yield the port of a server that sends this to every client, and then reads."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(what)
                while client.recv(65_536):
                    continue

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def raised(kind: type[SitebenchError], act: Callable[[], object]) -> SitebenchError:
    """Return the sitebench error that `act` raises: exactly of this kind."""
    with pytest.raises(SitebenchError) as caught, translated():
        act()
    assert type(caught.value) is kind
    return caught.value


def at(port: int, **more: Any) -> str:
    return json.dumps({"host": "127.0.0.1", "port": port, **more})


def seeding(port: int, **more: Any) -> Callable[[], object]:
    return lambda: seed_directory(at(port, **more), PEOPLE, 0, 10)


def test_every_kind_of_engine_error_is_a_sitebench_error() -> None:
    _, _, variants = KIND.read_text().partition("pub enum Kind {")
    names = re.findall(r"^    (\w+),$", variants.partition("}")[0], re.MULTILINE)
    assert len(names) > 5
    for name in names:
        assert issubclass(getattr(errors, name), SitebenchError), name


@pytest.mark.parametrize(
    ("work", "counted", "there"),
    [(seed_directory, "adds", None), (remove_people, "deletes", PEOPLE)],
)
def test_connection_closed_early_is_named(
    work: Callable[..., int], counted: str, there: Population | None
) -> None:
    pieces = itertools.count()

    def way(piece: bytes, client: socket.socket) -> None:
        if next(pieces) >= PIECES:
            raise ConnectionAbortedError
        client.sendall(piece)

    with serving({}, there) as directory:
        with relayed(directory.port, way) as port:
            error = raised(errors.MeasurementFailed, lambda: work(at(port), PEOPLE, 0, PEOPLE.size))
        assert eventually(lambda: directory.stats()[counted] > 0)
    assert error.exit_code == EXIT_FAILED
    assert "closed the connection" in error.message
    assert error.remedy.endswith("run it again to go on")


def test_refusal_is_bad_input_whatever_its_text() -> None:
    base = "ou=refused\\; too many open files on line 5,o=Intranet"
    people = small_population(3, base=base)
    with serving({"read_only": True}, people) as directory:
        error = raised(errors.BadInput, lambda: seed_directory(at(directory.port), people, 0, 10))
    assert error.exit_code == EXIT_BAD_INPUT
    assert "refused" in error.message
    assert "on line 5" in error.message
    assert "this directory is read-only" in error.message
    assert error.remedy == "write to the server that holds this base for writing"


def test_refusal_with_a_semicolon_in_the_servers_text_keeps_its_remedy() -> None:
    admin = {"admin_dn": "cn=admin,o=Intranet", "admin_password": "right"}
    with serving(admin, small_population(3)) as directory:
        error = raised(errors.BadInput, seeding(directory.port))
        assert "only the administrator may write; bind" in error.message
        assert error.remedy == "bind as a user who may write there"
        wrong = seeding(directory.port, bind_dn=admin["admin_dn"], password="wrong")
        assert raised(errors.WrongPassword, wrong).remedy == "check bind DN and password"


def test_wrong_answer_and_missing_answer_raise_different_errors() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        error = raised(errors.MeasurementFailed, seeding(port, timeout_ms=200))
        assert "has not answered" in error.message
    raised(errors.TargetUnreachable, seeding(port))
    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        raised(errors.TargetTalksNonsense, seeding(port))
    with serving({}) as directory:
        trusting_anybody = {"trust": {"insecure": True}}
        raised(errors.TlsFailed, seeding(directory.port, tls=trusting_anybody))
        raised(errors.TlsFailed, seeding(directory.port, tls={**trusting_anybody, "start": True}))


def test_wrong_arguments_and_wrong_files_raise_different_errors() -> None:
    raised(errors.BadInput, seeding(1, window=0))
    raised(errors.BadInput, lambda: Directory('{"no": 1}'))
    error = raised(errors.BadFile, lambda: LdifCount().feed(b"dn: o=a\nthis is no attribute\n\n"))
    assert "line 2" in error.message
    raised(errors.BadFile, lambda: Directory('{"ldif": "/no/such/file"}'))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        raised(errors.PortInUse, lambda: Directory(json.dumps({"port": port})))
        raised(errors.PortInUse, lambda: NullResponder(1, 1, port))


def test_lack_of_descriptors_has_its_own_error() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def without_descriptors() -> None:
        # Open descriptors stay open.
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            Directory("{}")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert "ulimit" in raised(errors.OutOfDescriptors, without_descriptors).remedy


# The reader of scenario files.

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
    """Signal handlers run too: Ctrl-C ends a command that reads a large file."""
    reader = threading.Thread(target=read)
    reader.start()
    ticks = 0
    while reader.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 5
