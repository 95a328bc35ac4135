"""`python -m tests.engine.wire [CASE ...]`: bytes that one lane sends for each built-in operation.

Also of every scenario in `examples/` and of a sequence with every step. A recording
server on 127.0.0.1 answers every request with success, so the bytes depend only on the scenario
and the seed. Random UUIDs and times of the clock are masked.

`wire.txt` contains, for each case, the first messages in full and a digest of more. With names
of cases, all of their messages are printed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ils_bench import sequences
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS as ILS
from ils_bench.suite import SUITE as ILS_SUITE
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.identity import ANONYMOUS, Identity
from ils_bench.targets.target import OpenDirectory
from ps_bench.options import PsOptions
from ps_bench.points import POINTS as PS
from sitebench._engine import Engine, Population, Visitors
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.scenario import script
from sitebench.suite_base.points import Load
from tests.support import ldap_server
from tests.support.people import LOCALES, POOLS, small_population
from web_bench.options import WebOptions
from web_bench.points import POINTS as WEB
from web_bench.targets.opening import OpenWeb
from web_bench.workload import DYNAMIC

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("wire.txt")
HEAD = """\
Bytes that lanes send. To write them anew after an intended change:
.venv/bin/python -m tests.engine.wire > tests/engine/wire.txt
"""
PEOPLE = 50
SHOWN, DIGESTED, ENOUGH = 4, 60, 150
"""The numbers of printed, digested and awaited messages of a case."""
PROFILES = {"login": ("person", "posix", "ad"), "register": ("paper", "ils")}
"""Profiles of operations that not all profiles have."""
ENVIRONMENT = {
    "ADMIN_DN": "cn=admin,dc=example,dc=com",
    "ADMIN_PASSWORD": "of-the-admin",
    "BENCH_PASSWORD": "of-the-bench",
}
_MASKS = (
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), b"{uuid}"),
    (re.compile(rb"127\.\d+\.\d+\.\d+:\d+"), b"{host}"),
)

Answer = Callable[[bytes], tuple[int, bytes] | None]
"""Length and answer of the first message, if it is complete."""


class Recorder:
    """A server that records the bytes of each connection, in the order of the connections."""

    def __init__(self, answer: Answer) -> None:
        self.connections: list[list[tuple[int, bytes]]] = []
        self.steps: set[str] = set()
        self._answer = answer
        self._count = 0
        self._lock = threading.Lock()
        self.enough = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                messages: list[tuple[int, bytes]] = []
                self.connections.append(messages)
                threading.Thread(
                    target=self._serve, args=(connection, messages), daemon=True
                ).start()

    def _serve(self, connection: socket.socket, messages: list[tuple[int, bytes]]) -> None:
        received = b""
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(65_536):
                received += data
                while (found := self._answer(received)) is not None:
                    length, answer = found
                    with self._lock:
                        # An unbind may arrive after the first message of the next connection.
                        self._count += bool(answer)
                        messages.append((self._count if answer else 0, received[:length]))
                    if self._count >= ENOUGH:
                        self.enough.set()
                    received = received[length:]
                    connection.sendall(answer)

    def text(self, shown: int) -> Iterator[str]:
        """Yield lines: the messages of each connection, and a digest of more."""
        digest = hashlib.sha256()
        printed = 0
        for number, messages in enumerate(self.connections, 1):
            lines = []
            for at, message in messages:
                if at > DIGESTED:
                    break
                for mask, name in _MASKS:
                    message = mask.sub(name, message)  # noqa: PLW2901
                lines.append(repr(message)[2:-1])
            if lines:
                digest.update("\n".join([str(number), *lines, ""]).encode())
            if lines and printed < shown:
                yield f"connection {number}"
                yield from lines[: shown - printed]
                printed += len(lines)
        yield f"sha256 of {DIGESTED} {digest.hexdigest()}"

    def close(self) -> None:
        self._listener.close()


def answer_ldap(data: bytes) -> tuple[int, bytes] | None:
    """Answer with success, compareTrue, and one entry for a search."""
    if (first := ldap_server.split(data)) is None:
        return None
    number, operation, rest = first
    answer = b""
    if operation[0] == ldap_server.SEARCH:
        answer = ldap_server.entry(number, "cn=one,dc=example,dc=com")
    if operation[0] not in (ldap_server.UNBIND, ldap_server.ABANDON):
        code = ldap_server.COMPARE_TRUE if operation[0] == ldap_server.COMPARE else 0
        answer += ldap_server.response(number, operation, ldap_server.result(code))
    return len(data) - len(rest), answer


_PAGE = b'<form><input name="token" value="t0ken"><body data-user="1"><h1>Hello</h1></form>'


def answer_http(data: bytes) -> tuple[int, bytes] | None:
    """Answer with a page that contains all captures of the scenarios."""
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return None
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    size = int(length[1]) if length else 0
    if len(rest) < size:
        return None
    status = b"303 See Other" if b"password=" in rest[:size] else b"200 OK"
    status = b"201 Created" if head.startswith(b"POST /users") else status
    status = b"204 No Content" if head.startswith(b"POST /preferences") else status
    body = b"" if status[:3] == b"204" else _PAGE
    lines = b"Location: /\r\nSet-Cookie: user=7\r\nSet-Cookie: token=t0ken\r\n"
    sized = b"" if status[:3] == b"204" else b"Content-Length: %d\r\n" % len(body)
    answer = b"HTTP/1.1 " + status + b"\r\n" + lines + sized + b"\r\n" + body
    return len(head) + 4 + size, answer


COMMON: dict[str, Any] = {"threads": 1, "verify": "none", "seed": 7}
LDAP_OPTIONS = IlsOptions(entries=PEOPLE, session=0.001, ring=3, **COMMON)
SITE_OPTIONS = PsOptions(entries=PEOPLE, **COMMON)
WEB_OPTIONS = WebOptions(**COMMON)


@dataclass(frozen=True)
class Case:
    name: str
    points: Any
    options: Any
    program: Any
    who: Identity = ANONYMOUS

    def record(self) -> Recorder:
        """Run one lane of the program until enough messages have arrived."""
        recorder = Recorder(answer_ldap if self.points is ILS else answer_http)
        try:
            load = Load(
                self.options, self._target(recorder.port), [self.program], WorkerSlot(), PEOPLE
            )
            tables = getattr(self.program, "own_tables", {})
            config, people, names = self.points.for_engine(load)
            engine = Engine(config, self._people(people), names, tables=tables)
            engine.start_lanes(self.program.name, 1)
            came = recorder.enough.wait(20)
            snapshot = engine.stop()
            recorder.steps = {step.step for step in snapshot.steps}
            if not came:
                steps = [(step.step, step.count, step.failures) for step in snapshot.steps]
                raise AssertionError(f"{self.name}: {steps}")
            time.sleep(0.01)
            return recorder
        finally:
            recorder.close()

    def _people(self, generated: object) -> Any:
        """Return people whose names do not depend on the version of Faker."""
        if isinstance(generated, Population):
            profile, base = self.options.profile, self.options.base
            return small_population(PEOPLE, profile=profile, base=base)
        spec = json.dumps({"seed": 1, "locales": LOCALES})
        return generated if generated is None else Visitors(str(POOLS), spec)

    def _target(self, port: int) -> Any:
        if self.points is ILS:
            address = DirectoryAddress("127.0.0.1", port)
            return OpenDirectory("recorder", address, self.options.base, who=self.who)
        site = SiteAddress("127.0.0.1", port)
        if self.points is PS:
            return OpenSite("recorder", site)
        programs = {kind: f"/{kind}?size={{size}}&copy={{copy}}" for kind in DYNAMIC}
        return OpenWeb("recorder", site, programs=programs)


def cases() -> Iterator[Case]:
    """Yield the recorded cases."""
    yield from _directory()
    yield from _sites()
    for path in sorted(ROOT.glob("examples/**/*.toml")):
        program = script.read(str(path))
        name = str(path.relative_to(ROOT))
        if program.protocol == script.LDAP:
            yield Case(name, ILS, LDAP_OPTIONS, program)
        else:
            yield Case(name, PS, SITE_OPTIONS, program)


def _directory() -> Iterator[Case]:
    admin = Identity("cn=admin", "secret")
    for operation in ILS_SUITE.operations:
        for profile in PROFILES.get(operation, ("paper", "ils", "person", "posix", "ad")):
            options = replace(LDAP_OPTIONS, profile=profile)
            program = ILS.built_in(options, operation)
            yield Case(f"ils {operation} {profile}", ILS, options, program)
        if operation != "login":
            program = ILS.built_in(LDAP_OPTIONS, operation)
            yield Case(f"ils {operation} bound", ILS, LDAP_OPTIONS, program, admin)
    named = replace(LDAP_OPTIONS, names="uid=user.{i}", base="dc=example,dc=com")
    for operation in ("lookup", "retrieve", "ils-user", "add"):
        yield Case(f"ils {operation} named", ILS, named, ILS.built_in(named, operation))
    plain = Identity("u:ann", "secret", "plain")
    yield Case("ils lookup plain", ILS, LDAP_OPTIONS, ILS.built_in(LDAP_OPTIONS, "lookup"), plain)
    for each in _sequences():
        yield Case(f"sequence {each.name}", ILS, LDAP_OPTIONS, each.script())


def _sites() -> Iterator[Case]:
    for keepalive in (False, True):
        kept = replace(SITE_OPTIONS, keepalive=keepalive)
        for operation in PS.suite.operations:
            name = f"ps {operation}{' kept' if keepalive else ''}"
            yield Case(name, PS, kept, PS.built_in(kept, operation))
    for operation in WEB.suite.operations:
        # The recorder reads no TLS.
        workload = WEB.built_in(WEB_OPTIONS, operation)
        clear = replace(workload, text=workload.text.replace(", tls = true", ""))
        yield Case(f"web {operation}", WEB, WEB_OPTIONS, clear)


def _sequences() -> Sequence[sequences.Sequence]:
    from ils_bench.sequences import (
        Add,
        Bind,
        Change,
        Compare,
        Connect,
        Delete,
        Lookup,
        Modify,
        Refresh,
        Repeat,
        Retrieve,
        Search,
        Sequence,
        Think,
        Unbind,
    )

    changes = (Change("replace", "title", ("Boss", "Chief")), Change("delete", "mail"))
    return [
        Sequence(
            "every step",
            (
                Connect(),
                Bind("cn=admin", "secret"),
                Repeat(
                    2,
                    (
                        Lookup(),
                        Lookup("current", ("cn", "mail"), name="again"),
                        Think(0.01, "constant"),
                        Compare("sn"),
                        Modify(changes, "current"),
                    ),
                ),
                Search("(cn=A*)", scope="one", attributes=("cn",), expect_entries=1),
                Search("(cn=A*)", base="ou=other", scope="base", name="elsewhere"),
                Retrieve(size_limit=5),
                Refresh(60, "random"),
                Add(),
                Lookup("current", name="newcomer"),
                Delete("new"),
                Unbind(),
            ),
        ),
        Sequence(
            "prefix",
            (Connect(), Bind(), Repeat(50, (Search(filter="(cn=A*)"),)), Unbind()),
            counts="search",
        ),
        Sequence("own", (Connect(), Bind(), Lookup("own"), Lookup("own", name="again"), Unbind())),
    ]


def text_of(case: Case, shown: int = SHOWN) -> str:
    """Return the recording of a case."""
    return "\n".join([f"== {case.name}", *case.record().text(shown), ""])


def main(names: Sequence[str]) -> None:
    """Print all cases, or all messages of the named cases."""
    os.environ.update(ENVIRONMENT)
    if not names:
        sys.stdout.write(HEAD)
    for case in cases():
        if not names or case.name in names:
            sys.stdout.write(text_of(case, DIGESTED if names else SHOWN))


if __name__ == "__main__":
    main(sys.argv[1:])
