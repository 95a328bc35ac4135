"""Commands at servers that send endlessly, nothing, or nonsense end soon, with little memory.

`test_hostile_targets` tests single probes of a target. Here are whole commands, and servers
that turn hostile when the load begins.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import ldap_server
from tests.support.cli import Ran
from tests.support.forked_command import run_forked
from tests.support.hostile_target import (
    BASE,
    ENDLESS_DIRECTORIES,
    ENDLESS_SITES,
    LARGE_SITES,
    LATE_DIRECTORIES,
    LATE_SITES,
    OK,
    PartOf,
    directory_that,
    entry,
    flood,
    hold,
    site_that,
)
from tests.support.ldap_server import (
    DONE,
    INTERMEDIATE,
    NO_SUCH_OBJECT,
    SEARCH,
    Answer,
    Part,
    message,
    response,
    result,
    serving,
    tlv,
)

pytestmark = pytest.mark.timeout(300)
MOST_MIB = 64
"""Permitted memory of a command above that of a command at a good server."""
LOOK_S = 10.0
"""The time limit of a probe, which may end a little later; a command takes a second besides."""
BUSY_S = 60.0
"""More than a busy machine needs; far less than an endless answer takes."""
AT_ONCE = 6
"""Concurrent commands: most of them wait."""


@dataclass(frozen=True)
class Ended(Ran):
    """The exit of a command, and the highest memory of one of its processes."""

    mib: float
    took_s: float


def ended(argv: Sequence[str], answer: Answer, folder: Path) -> Ended:
    with serving(answer) as port:
        told = [each.format(port=port) for each in argv]
        began = time.monotonic()
        ran, mib = run_forked(*told, cwd=folder, timeout_s=200)
        return Ended(ran.code, ran.out, ran.err, mib, time.monotonic() - began)


# Longer than two timeouts, because the first requests may begin before the window.
LOAD = (
    *("--users", "2", "--threads", "1", "--rate", "20"),
    *("--warmup", "0s", "--measure", "1s", "--timeout", "400ms"),
)
WEB = ("web", "run", "--path", "/", "--target", "http://127.0.0.1:{port}", *LOAD)
SITE = ("ps", "run", "page", "--entries", "10", "--target", "http://127.0.0.1:{port}", *LOAD)
DIRECTORY = (
    *("ils", "run", "lookup", "--entries", "10", "--base", BASE, "--names", "cn={{i}}"),
    *("--target", "ldap://127.0.0.1:{port}", *LOAD),
)
GOOD = OK + b"Content-Length: 2\r\n\r\nok"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
MOVED = b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"


def site(load: Answer | bytes, look: Answer | bytes = GOOD) -> Answer:
    """Answer probes, which ask to close the connection, with `look`, and the load with `load`."""

    def answer(connection: socket.socket, over: threading.Event) -> None:
        # An answer function reads the request itself.
        while asked := connection.recv(65_536, socket.MSG_PEEK):
            looks = b"Connection: close" in asked
            said = look if looks else load
            if callable(said):
                said(connection, over)
                return
            connection.recv(65_536)
            connection.sendall(said)
            if looks:
                return

    return answer


MONITOR = b"cn=Monitor"


def directory(load: PartOf | None = None, monitor: PartOf | None = None) -> Answer:
    """Find all looked-up people; answer searches of a load and of cn=Monitor as given."""

    def reply(number: bytes, operation: bytes) -> Iterator[Part]:
        # Below a base, and aliases are left alone (RFC 4511 4.5.1): a load's search.
        of_load = b"\x0a\x01\x02\x0a\x01\x00" in operation
        part = monitor if MONITOR in operation else load if of_load else None
        if part is not None:
            yield part(number)
            return
        if operation[0] == SEARCH:
            person = NAME.search(operation)
            yield ldap_server.entry(number, f"cn={person[1].decode()},{BASE}" if person else BASE)
        yield response(number, operation, result(0))

    return ldap_server.directory(reply)


NAME = re.compile(rb"\x04\x02cn\x04\x01(.)")
"""The name in a filter for one of ten people."""


def closes(connection: socket.socket, over: threading.Event) -> None:
    """Close the connection without an answer."""


def a_part(of: Mapping[str, Answer], *names: str) -> dict[str, Answer]:
    return {name: of[name] for name in names}


def refuses(number: bytes) -> bytes:
    return message(number, DONE, result(NO_SUCH_OBJECT))


Row = tuple[Sequence[str], Answer]
REFUSED: Mapping[str, Mapping[str, Row]] = {
    "web": {
        "good": (WEB, site(GOOD, NOT_FOUND)),
        **{
            name: (WEB, answer)
            for name, answer in {
                **a_part(LATE_SITES, "a byte now and then", "a chunk without its end"),
                **a_part(ENDLESS_SITES, "provisional answers", "header lines"),
                "silence": hold,
                "a closed connection": closes,
                "garbage": site_that(b"\x00\x01\xff garbage\r\n\r\n" * 100),
                "a redirect to itself": site_that(MOVED),
            }.items()
        },
        "ps: a byte now and then": (SITE, LATE_SITES["a body a byte now and then"]),
        "ps: a body without end": (SITE, LARGE_SITES["a body without end"]),
    },
    "ils": {
        "good": (DIRECTORY, directory_that(refuses)),
        **{
            name: (DIRECTORY, answer)
            for name, answer in {
                **a_part(LATE_DIRECTORIES, "a byte now and then", "entries now and then"),
                **a_part(ENDLESS_DIRECTORIES, "entries", "one entry", "a length of 2 GB", "zeros"),
                "silence": hold,
                "a closed connection": closes,
                "garbage": site_that(bytes(range(255, 0, -1)) * 4),
            }.items()
        },
    },
}


class Turns:
    """Answers operations in several ways in turn."""

    def __init__(self, ways: Mapping[str, Callable[..., Any]]) -> None:
        self.unseen = set(ways)
        self._turns, self._turning = itertools.cycle(ways.items()), threading.Lock()

    def __call__(self, *asked: Any) -> Any:
        with self._turning:
            name, way = next(self._turns)
        self.unseen.discard(name)
        return way(*asked)


def hostile_site() -> tuple[Answer, set[str]]:
    """Return a site that turns hostile when a load begins, and the ways not used so far."""
    turns = Turns(
        {
            **a_part(LARGE_SITES, "a body without end", "small chunks"),
            **a_part(ENDLESS_SITES, "header lines"),
            "silence": hold,
        }
    )
    # The beginning of an endless front page is a good answer to a probe.
    look = LARGE_SITES["a body without end"]
    return site(turns, look), turns.unseen


def hostile_turns() -> Turns:
    """Return the ways in which a directory turns hostile."""
    return Turns(
        {
            "entries": lambda number: flood(entry(number, b"x" * 1_000) * 60),
            "intermediate responses": lambda number: flood(
                message(number, INTERMEDIATE, tlv(0x80, b"1.2.3")) * 1_000
            ),
            "a length of 2 GB": lambda number: b"\x30\x84\x7f\xff\xff\xff\x02\x01" + number,
            "silence": lambda _: hold,
        }
    )


def hostile_directory() -> tuple[Answer, set[str]]:
    """Return such a directory, and the ways not used so far."""
    turns = hostile_turns()
    return directory(turns), turns.unseen


A_LANE_EACH = ("--users", "4")
UNHURRIED = ("--timeout", "60s")
"""A long timeout for good servers, which answer late on a busy machine."""
LDAP3 = (*(each for each in DIRECTORY if each not in ("--rate", "20")), "--client", "ldap3")
TURNING: Mapping[str, tuple[Row, Callable[[], tuple[Answer, set[str]]]]] = {
    "web": ((WEB, site(GOOD)), hostile_site),
    "ils": ((DIRECTORY, directory()), hostile_directory),
    "ils by ldap3": ((LDAP3, directory()), hostile_directory),
}


def all_ended(rows: Mapping[str, Row], folder: Path) -> tuple[Ended, dict[str, Ended]]:
    """Run a command at each server, some concurrently; return the good server's and the others."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {name: pool.submit(ended, *row, folder) for name, row in rows.items()}
        found = {name: each.result() for name, each in running.items()}
    return found.pop("good"), found


def assert_soon_and_small(each: Ended, good: Ended) -> None:
    assert each.code in (1, 2)
    assert each.took_s < LOOK_S + BUSY_S
    assert each.mib < good.mib + MOST_MIB
    # The output contains no unprintable text of a server.
    assert (each.out + each.err).replace("\n", "").isprintable()
    assert "Traceback" not in each.err
    assert [line[:11] for line in each.err.splitlines()].count("sitebench: ") == 1


@pytest.mark.parametrize("half", REFUSED)
def test_probing_a_hostile_server_is_bounded_in_time_and_memory(half: str, tmp_path: Path) -> None:
    good, others = all_ended(REFUSED[half], tmp_path)
    assert good.code == 2, good
    for name, each in others.items():
        print(f"{name}: {each}")  # of all, if one fails
        assert_soon_and_small(each, good)
        assert each.out == ""
        said, remedy = each.err.splitlines()
        assert said.startswith("sitebench: ")
        assert remedy.startswith("  ")
        if "now and then" in name:
            assert re.match(r"sitebench: \w+://127\.0\.0\.1:\d+ does not answer as ", said)
            assert said.endswith("longer than 10 s")
            assert remedy.startswith("  check host and port")


@pytest.mark.parametrize("half", TURNING)
def test_load_on_a_hostile_server_is_bounded_in_time_and_memory(half: str, tmp_path: Path) -> None:
    (command, good_answer), hostile_one = TURNING[half]
    answer, unseen = hostile_one()
    rows = {
        "good": ((*command, *A_LANE_EACH, *UNHURRIED), good_answer),
        "hostile": ((*command, *A_LANE_EACH), answer),
    }
    good, others = all_ended(rows, tmp_path)
    assert good.code == 0, good
    assert_soon_and_small(others["hostile"], good)
    assert "no operation succeeded: " in others["hostile"].err, others
    assert unseen == set()


def test_load_on_a_directory_with_a_hostile_monitor_is_measured(tmp_path: Path) -> None:
    turns = hostile_turns()
    argv = (*DIRECTORY, *A_LANE_EACH, *UNHURRIED, "--measure", "4s", "--json")
    ran = ended(argv, directory(monitor=turns), tmp_path).check(0)
    assert ran.took_s < BUSY_S
    (point,) = map(json.loads, ran.out.splitlines())
    (gap,) = point["resources"]["gaps"]
    assert gap["source"].startswith("cn=Monitor of ")
    assert gap["missing"] == gap["asked"] > 0
    assert len(turns.unseen) < 2
