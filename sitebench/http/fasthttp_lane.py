"""`--client fasthttp`: the same scenario through Locust's FastHttpUser, with its ordinary events.

The portable client: an independent implementation to compare the engine with. It costs many times
the engine's CPU, so the tester is the bottleneck far sooner; the verdict says so.
Connecting is a part of the request that needs it, so there is no connect time; bytes received are
those of bodies.
"""

from __future__ import annotations

import itertools
import random
import ssl
from collections.abc import Iterable, Iterator, Mapping

from locust import FastHttpUser
from locust.contrib.fasthttp import ResponseContextManager
from locust.env import Environment

from sitebench._engine import Visitors
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput
from sitebench.http.address import SiteAddress
from sitebench.http.checks import body_of, fault, path_of
from sitebench.http.engine_config import first_newcomer, people_at
from sitebench.http.options import SiteTestOptions
from sitebench.http.scenario import Capture, Operation, Request, Scenario, render
from sitebench.locust.portable import (
    BrokenPass,
    Ended,
    PortableLane,
    PortableLanes,
    refuse_what_only_native_does,
    within,
)
from sitebench.targets.deadline import connecting_s
from sitebench.targets.tls import SYSTEM, Trust, fault_kind

_CITIES = ("Aberdeen", "Bologna", "Cádiz", "Delft", "Évora", "Fürth", "Göteborg", "Hämeenlinna")
"""Cities that updates move people to."""


class FastHttpLanes(PortableLanes):
    """All portable lanes of a process, and what they recorded."""

    def __init__(
        self,
        environment: Environment,
        address: SiteAddress,
        visitors: Visitors | None,
        scenarios: Iterable[Scenario],
        *,
        options: SiteTestOptions,
        slot: WorkerSlot,
        trust: Trust = SYSTEM,
    ) -> None:
        refuse_what_only_native_does("fasthttp", options, resume=trust.resume)
        super().__init__(environment)
        self.options = options
        self.slot = slot
        self.visitors = visitors
        """The people of the site; None for a site without people, where requests name none."""
        self.people = people_at(options)
        self.held: set[int] = set()
        self._url = str(address)
        self._context = trust.context() if address.scheme == "https" else None
        self._insecure = trust.insecure
        self._decks = {
            each.name: (each, _Deck(each, options.seed + slot.index)) for each in scenarios
        }
        self._made = itertools.count(slot.index, slot.count)
        self._newcomers = itertools.count(first_newcomer(options, slot))

    def lane(self, program: str) -> _FastHttpLane:
        """Make one lane; all lanes of a scenario draw from one deck."""
        scenario, deck = self._decks[program]
        seed = self.options.seed + next(self._made)
        return _FastHttpLane(self, self._browser(), scenario, deck, seed)

    def newcomer(self) -> int:
        """Return a person who is not on the site yet."""
        return next(self._newcomers)

    def _browser(self) -> FastHttpUser:
        class Browser(FastHttpUser):
            abstract = True
            host = self._url
            connection_timeout = connecting_s(self.options.timeout)
            network_timeout = self.options.timeout
            # One connection for each user, as browsers kept it in 1997.
            concurrency = 1
            insecure = self._insecure
            ssl_context_factory = self._trusting

        return Browser(self.environment)

    def _trusting(self, cafile: str | None = None) -> ssl.SSLContext:
        """Return the trusted authorities; `cafile` is geventhttpclient's own default."""
        assert self._context is not None
        return self._context


class _Deck:
    """A shuffled hundred of operations, dealt to its end before the next one."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._cards = [each for each in scenario.operations for _ in range(each.share)]
        self._random = random.Random(seed)
        self._left: list[Operation] = []

    def deal(self) -> Operation:
        if not self._left:
            self._left = self._random.sample(self._cards, len(self._cards))
        return self._left.pop()


class _FastHttpLane(PortableLane):
    """One user of the site."""

    def __init__(
        self,
        lanes: FastHttpLanes,
        browser: FastHttpUser,
        scenario: Scenario,
        deck: _Deck,
        seed: int,
    ) -> None:
        super().__init__(lanes, scenario.name)
        self._lanes = lanes
        self._client = browser.client
        self._scenario = scenario
        self._deck = deck
        self._random = random.Random(seed)
        self._current: int | None = None
        self._own: int | None = None
        self._drawn: dict[str, str] = {}
        self._captured = ""
        self._pending: int | None = None
        self._new: tuple[int, str] | None = None

    def work(self) -> None:
        try:
            for request in self._deck.deal().requests:
                self._do(request)
        finally:
            self._release()

    def run_pass(self) -> None:
        """Do one operation, and think."""
        super().run_pass()
        if self._lanes.options.think > 0:
            self.clock.rest(self._random.expovariate(1 / self._lanes.options.think))

    def hang_up(self) -> None:
        self._client.client.close()

    def _do(self, request: Request) -> None:
        if request.does == "update":
            self._drawn = dict(self._draws())
        values = self._values(self._person(request.person, creates=request.does == "create"))
        ended = self._send(request, values)
        self._lanes.keep(self._scenario.name, request.name, ended)
        if not ended.answered:
            raise BrokenPass(ended.kind)

    def _send(self, request: Request, values: Mapping[str, str]) -> Ended:
        headers = {name: render(value, values) for name, value in request.headers}
        if request.content_type:
            headers["Content-Type"] = request.content_type
        if not self._lanes.options.keepalive:
            headers["Connection"] = "close"
        # Cookies come from the template: what the site sets for one person is not for the next.
        self._client.cookiejar.clear()
        path, data = path_of(request, values), body_of(request, values)
        self.clock.begin()
        with within(self._lanes.options.timeout):
            answer = self._client.request(
                request.method,
                path,
                name=request.name,
                data=data,
                headers=headers,
                allow_redirects=False,
                catch_response=True,
            )
        with answer as response:
            self.clock.answered()
            if not self._lanes.options.keepalive:
                # Not every server says that it will close: the pool would use it once more.
                self.hang_up()
            if (lost := _lost(response)) is not None:
                self.hang_up()
                kind: str | None = _failure_kind(lost)
                response.failure(kind)
                return self.clock.end(kind, answered=False, traffic=(0, 0))
            body = response.content or b""
            kind = None
            if self._lanes.options.verify:
                fresh = self._pending is not None and self._pending == self._current
                kind = fault(request, values, response.status_code, body, fresh=fresh)
            elif response.status_code not in request.expect.status:
                kind = f"status:{response.status_code}"
            if kind is None:
                kind = self._conclude(request, body)
            if kind is None:
                response.success()
            else:
                response.failure(kind)
        return self.clock.end(kind, answered=True, traffic=(0, len(body)))

    def _conclude(self, request: Request, body: bytes) -> str | None:
        """Keep what an answer captures or changes; a failed capture is a wrong answer."""
        if request.capture is not None:
            self._capture(request.capture, body)
            if not self._captured:
                return "wrong-answer"
        if request.does == "update":
            self._pending = self._current
        elif request.does == "create" and self._current is not None:
            self._new = (self._current, self._captured or str(self._current))
        return None

    def _capture(self, wanted: Capture, body: bytes) -> None:
        if wanted.cookie:
            found = {each.name: each.value for each in self._client.cookiejar}
            self._captured = str(found.get(wanted.cookie, ""))
        else:
            _, _, rest = body.decode("utf-8", "replace").partition(wanted.before)
            self._captured = rest.partition(wanted.until)[0]

    # People.

    def _person(self, who: str, *, creates: bool) -> int:
        lanes = self._lanes
        if creates:
            self._current = lanes.newcomer()
        elif who == "new" and self._new is not None:
            self._current = self._new[0]
        elif who == "own":
            self._current = self._hold()
        elif who == "random" or self._current is None:
            self._current = self._random.randrange(lanes.people)
        return self._current

    def _hold(self) -> int:
        """Return a person that no other lane, and no other process, updates meanwhile."""
        self._release()
        slot, size = self._lanes.slot, self._lanes.people
        mine = range(slot.index, size, slot.count)
        if len(self._lanes.held) >= len(mine):
            raise BadInput(
                "more users update people than there are people",
                "use fewer users, or a larger size",
            )
        while (found := self._random.choice(mine)) in self._lanes.held:
            continue
        self._lanes.held.add(found)
        self._own = found
        return found

    def _release(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            self._lanes.held.discard(own)

    def _values(self, person: int) -> dict[str, str]:
        visitors = self._lanes.visitors
        found = {} if visitors is None else visitors.visitor(person)
        values = {name: _text(value) for name, value in found.items()}
        if self._new is not None and self._new[0] == person:
            values["id"] = self._new[1]
        return {**values, **self._drawn, "captured": self._captured}

    def _draws(self) -> Iterator[tuple[str, str]]:
        for name in ("draw.colour", "draw.accent"):
            yield name, f"#{self._random.randrange(1 << 24):06x}"
        yield "draw.city", self._random.choice(_CITIES)
        yield "draw.number", str(self._random.randrange(1 << 31))


def _lost(response: ResponseContextManager) -> BaseException | None:
    """Return the error that came instead of an answer or of the rest of its body."""
    error: BaseException | None = response.request_meta["exception"]
    return error if response.status_code == 0 or isinstance(error, OSError) else None


def _text(value: str | int | bool | list[str]) -> str:
    """Return a property as templates have it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return ",".join(value) if isinstance(value, list) else str(value)


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
