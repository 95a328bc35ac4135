"""`--client fasthttp`: scenario files through Locust's FastHttpUser, with its ordinary events.

The portable client: another network stack to compare the engine's with. What is asked and what is
right the engine says, which reads the file for it too; here it is only sent. It costs many times
the engine's CPU, so the tester is the bottleneck far sooner; the verdict says so.
Connecting is a part of the request that needs it, so there is no connect time; bytes received are
those of bodies.
"""

from __future__ import annotations

import ssl
import zlib
from dataclasses import replace
from typing import Any

from geventhttpclient.response import HTTPParseError
from locust import FastHttpUser
from locust.contrib.fasthttp import FastHttpSession, ResponseContextManager
from locust.env import Environment

from sitebench._engine import PortableUsers, Step, Steps
from sitebench.http.address import SiteAddress
from sitebench.http.options import SiteTestOptions
from sitebench.locust.portable import (
    Ended,
    PortableLane,
    PortableLanes,
    refuse_what_only_native_does,
    within,
)
from sitebench.targets.deadline import connecting_s
from sitebench.targets.tls import SYSTEM, Trust, fault_kind


class FastHttpLanes(PortableLanes):
    """All portable lanes of a process, and what they recorded."""

    def __init__(
        self,
        environment: Environment,
        address: SiteAddress,
        users: PortableUsers,
        *,
        options: SiteTestOptions,
        trust: Trust = SYSTEM,
    ) -> None:
        refuse_what_only_native_does("fasthttp", options, resume=trust.resume)
        super().__init__(environment, users)
        self.timeout_s = options.timeout
        # What stands before every path is in it already.
        self._url = str(replace(address, base_path=""))
        self._context = trust.context() if address.encrypted else None
        self._insecure = trust.insecure

    def lane(self, program: str) -> _FastHttpLane:
        """Make one lane."""
        return _FastHttpLane(self, self.users.steps(program))

    def client(self) -> FastHttpSession:
        """Return a client of one connection."""

        class Browser(FastHttpUser):
            abstract = True
            host = self._url
            connection_timeout = connecting_s(self.timeout_s)
            network_timeout = self.timeout_s
            concurrency = 1
            insecure = self._insecure
            ssl_context_factory = self._trusting

        return Browser(self.environment).client

    def _trusting(self, cafile: str | None = None) -> ssl.SSLContext:
        """Return the trusted authorities; `cafile` is geventhttpclient's own default."""
        assert self._context is not None
        return self._context


class _FastHttpLane(PortableLane):
    """One user of the site."""

    def __init__(self, lanes: FastHttpLanes, steps: Steps) -> None:
        super().__init__(lanes, steps)
        self._lanes = lanes
        self._clients: dict[int, FastHttpSession] = {}

    def hang_up(self, connection: int) -> None:
        if connection in self._clients:
            self._clients[connection].client.close()

    def hang_up_all(self) -> None:
        for connection in self._clients:
            self.hang_up(connection)

    def ask(self, step: Step) -> Ended:
        self.clock.begin()
        spent_ms = received = 0
        while True:
            response = self._send(step)
            self.clock.answered()
            kind, answered, shown, came = self._judge(response)
            spent_ms += response.request_meta["response_time"]
            received += came
            if kind is not None or answered:
                break
            # A redirect: Locust hears of the last answer, with the time of all.
            step = self._go_on()
        response.request_meta["response_time"] = spent_ms
        with response as told:
            if kind is None:
                told.success()
            else:
                told.failure(kind)
        ended = self.clock.end(kind, answered=answered, traffic=(0, received))
        return replace(ended, shown=shown)

    def _go_on(self) -> Step:
        """Return the next part of a request."""
        while (step := self.steps.next()) is not None and step.does == "close":
            self.hang_up(step.connection)
        assert step is not None
        return step

    def _send(self, step: Step) -> ResponseContextManager:
        """Send what is asked, and return what came."""
        assert step.http is not None
        assert step.row is not None
        if step.connection not in self._clients:
            self._clients[step.connection] = self._lanes.client()
        client, request = self._clients[step.connection], step.http
        # Cookies are among the request's lines: the engine keeps them.
        client.cookiejar.clear()
        # What is packed has another length; the engine asks for nothing packed either.
        headers = {"Accept-Encoding": "identity", **dict(request.headers)}
        # It takes bytes, too.
        data: Any = request.body or None
        with within(self._lanes.timeout_s):
            return client.request(
                request.method,
                request.path,
                name=step.row[1],
                data=data,
                headers=headers,
                allow_redirects=False,
                catch_response=True,
            )

    def _judge(self, response: ResponseContextManager) -> tuple[str | None, bool, str | None, int]:
        """Return what is wrong, whether it was an answer, what to show, and bytes of a body."""
        kind, body = _missing(response), b""
        if kind is None:
            try:
                body = response.content or b""
            except zlib.error:
                kind = "malformed"
        if kind is not None:
            return kind, False, self.steps.lost(kind), 0
        assert response.headers is not None
        lines = list(response.headers.items())
        kind, answered, shown = self.steps.answered_http(response.status_code, lines, body)
        return kind, answered, shown, len(body) if answered or kind is None else 0


def _missing(response: ResponseContextManager) -> str | None:
    """Return the engine's name for what came instead of an answer, or of the rest of its body."""
    error: BaseException | None = response.request_meta["exception"]
    if response.headers is None or isinstance(error, OSError):
        return _failure_kind(error)
    if isinstance(error, HTTPParseError):
        names = {name.lower() for name, _ in response.headers.items()}
        if "content-length" in names and not names & {"content-encoding", "transfer-encoding"}:
            # The engine sees by its length that it was cut short.
            return None
        return "closed" if "Incomplete" in str(error) else _failure_kind(error)
    return None


def _failure_kind(error: BaseException | None) -> str:
    """Return the engine's name for what FastHttpUser met instead of an answer."""
    fault = None if error is None else fault_kind(error)
    name, text = type(error).__name__, str(error).lower()
    if isinstance(error, ConnectionRefusedError) or "refused" in text:
        return "connect-refused"
    if isinstance(error, TimeoutError) or "timed out" in text or "timeout" in name.lower():
        return "timeout"
    if isinstance(error, ConnectionResetError) or "reset" in text:
        return "reset"
    if "Parse" in name:
        return "malformed"
    if getattr(error, "errno", None) == 99:
        return "out-of-ports"
    return fault or "closed"
