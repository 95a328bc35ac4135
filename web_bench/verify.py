"""Comparison of a web server's files with a file set."""

from __future__ import annotations

import http.client
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sitebench._engine import FileSet
from sitebench.errors import TargetUnreachable
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.site import probe
from sitebench.targets.tls import SYSTEM, Trust, tls_failed
from web_bench.workload import Progress, file_set

ANSWER_S = 30.0
REPORT_EVERY_S = 0.1
PIECE = 64 << 10
DRAINED = 1 << 20
"""Largest wrong body that is read to its end, so that the connection can be kept."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that the server sends altered, or not at all."""

    path: str
    kind: str
    """Kind of failure: status:NNN, wrong-length, wrong-answer, truncated, closed, timeout or
    malformed."""
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}, {self.detail}"


@dataclass(frozen=True, slots=True)
class Verified:
    files: int
    bytes: int
    kinds: Mapping[str, int]
    """Number of files that differ, by kind of failure."""
    differences: tuple[Difference, ...]
    """The first differences, in the order of the file set."""

    @property
    def different(self) -> int:
        return sum(self.kinds.values())


def verify(
    spec: Mapping[str, Any],
    url: str,
    progress: Progress = lambda compared, total: None,
    *,
    connections: int = 4,
    limit: int = 20,
    trust: Trust = SYSTEM,
) -> Verified:
    """Compare every file of a set with the answer of the server at `url`.

    Bodies are compared while they arrive. `progress` is called in the calling thread, and an
    exception that it raises ends the verification. All differences are counted, `limit` of them are
    returned with their files. Raises TargetUnreachable if the server stops answering.
    """
    files, address = file_set(spec), parse_address(url)
    probe(address, trust)
    numbers = iter(range(files.count))
    clients = [_Client(files, numbers, address, trust) for _ in range(connections)]
    with ThreadPoolExecutor(connections) as pool:
        try:
            running = [pool.submit(client.run) for client in clients]
            pending = {*running}
            while pending:
                finished, pending = wait(running, REPORT_EVERY_S, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                progress(sum(client.bytes_done for client in clients), files.bytes)
        finally:
            for client in clients:
                client.stop()
    differences = sorted(difference for client in clients for difference in client.differences)
    first = tuple(Difference(files.path(i), *reason) for i, reason in differences[:limit])
    return Verified(files.count, files.bytes, Counter(kind for _, (kind, _) in differences), first)


class _Client:
    """A kept connection, and the thread that sends its requests."""

    def __init__(
        self, files: FileSet, numbers: Iterator[int], address: SiteAddress, trust: Trust
    ) -> None:
        self.bytes_done = 0
        self.differences: list[tuple[int, tuple[str, str]]] = []
        """Numbers of files, each with the kind and the detail of a difference."""
        self._files, self._numbers, self._address = files, numbers, address
        self._stopped = False
        place: dict[str, Any] = {"host": address.host, "port": address.port, "timeout": ANSWER_S}
        self._connection: http.client.HTTPConnection
        if address.is_encrypted:
            self._connection = http.client.HTTPSConnection(**place, context=trust.context())
        else:
            self._connection = http.client.HTTPConnection(**place)

    def run(self) -> None:
        try:
            # All threads share the iterator: `next` of a range is atomic.
            while not self._stopped and (i := next(self._numbers, None)) is not None:
                path, size = self._files.path(i), self._files.size(i)
                if (difference := self._compare(i, path, size)) is not None:
                    self.differences.append((i, difference))
                self.bytes_done += size
        finally:
            self._connection.close()

    def stop(self) -> None:
        """End the wait for an answer; called from another thread."""
        self._stopped = True
        open_socket = self._connection.sock
        if open_socket is not None:
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)

    def _compare(self, i: int, path: str, size: int) -> tuple[str, str] | None:
        try:
            response = self._response(path)
            length = response.length
            if response.status == http.client.OK and length in (None, size):
                return self._compare_body(response, i, size)
            self._drain(response)
            if response.status != http.client.OK:
                return f"status:{response.status}", response.reason
            return "wrong-length", f"{length:,} bytes instead of {size:,}"
        except TimeoutError:
            difference = "timeout", f"no answer within {ANSWER_S:g} s"
        except OSError as error:
            difference = "closed", error.strerror or str(error)
        except http.client.HTTPException as error:
            difference = "malformed", str(error) or type(error).__name__
        self._connection.close()
        return difference

    def _response(self, path: str) -> http.client.HTTPResponse:
        used_before = self._connection.sock is not None
        if not used_before:
            self._connect()
        try:
            self._connection.request("GET", f"{self._address.base_path}{path}")
            return self._connection.getresponse()
        except (ConnectionError, http.client.BadStatusLine):
            self._connection.close()
            if not used_before or self._stopped:
                raise
            # A server may close an idle connection at any time (RFC 9112, 9.3.1).
            return self._response(path)

    def _connect(self) -> None:
        try:
            self._connection.connect()
        except OSError as error:
            self._connection.close()
            raise tls_failed(self._address, error) or TargetUnreachable(
                f"nothing answers at {self._address} any more: {error.strerror or error}",
                "check that the server is running, and verify again",
            ) from error

    def _compare_body(
        self, response: http.client.HTTPResponse, i: int, size: int
    ) -> tuple[str, str] | None:
        checker, announced = self._files.checker(i), response.length
        ended_early = False
        try:
            while checker.fed <= size and (piece := response.read(PIECE)):
                checker.feed(piece)
        except http.client.IncompleteRead as error:
            checker.feed(error.partial)
            ended_early = True
        fed, offset = checker.fed, checker.finish()
        ended_early = ended_early or (announced is not None and fed < size)
        if ended_early or fed > size:
            # The connection is closed, because the rest of the body is not read.
            self._connection.close()
        if offset is not None and offset < min(fed, size):
            return "wrong-answer", f"differs from byte {offset:,} on"
        if ended_early:
            return "truncated", f"ends early, after {fed:,} of {size:,} bytes"
        if offset is None:
            return None
        prefix = "more than " if fed > size else ""
        return "wrong-length", f"{prefix}{min(fed, size):,} bytes instead of {size:,}"

    def _drain(self, response: http.client.HTTPResponse) -> None:
        if response.length is not None and response.length <= DRAINED:
            with suppress(OSError, http.client.HTTPException):
                response.read()
        if not response.isclosed():
            self._connection.close()
