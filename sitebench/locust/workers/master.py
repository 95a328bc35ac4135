"""The master's side: who works for a test, what they are asked, and what comes of it.

Nothing is counted twice or dropped: every drain is asked for by number, and the windows take what
is settled, in order (`merge`). A worker says how much it did in all, so that what got lost on the
way would show.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gevent  # type: ignore[import-untyped]
from locust.runners import STATE_MISSING, MasterRunner

from sitebench.counts.source import Drained
from sitebench.errors import SitebenchError, WorkersMissing
from sitebench.locust.workers import messages
from sitebench.locust.workers.clock import ENOUGH, Clock, Ping
from sitebench.locust.workers.merge import Merger, Round, Share
from sitebench.monitor import Use
from sitebench.runs.windows import Phase, Windows
from sitebench.system.child import revive
from sitebench.verdict.workers import WorkerSeen

log = logging.getLogger("sitebench")

OPENS_S = 600.0
"""How long lanes may take to open while their workers are heard of. One whose hub is too busy with
it to send a heartbeat for some five seconds is lost to Locust, and so to its test."""
QUIET_S = 30.0
"""A worker that does not answer for as long is lost, whatever Locust's heartbeats say."""
LOOK_S = 0.02


@dataclass
class Member:
    """One worker of one test."""

    index: int
    facts: Mapping[str, Any] | None = None
    """What it said of itself when its lanes could begin."""
    clock: Clock = field(default_factory=Clock)
    heard: float = field(default_factory=time.monotonic)
    did: int = 0
    use: Use | None = None
    ended: str | None = None

    @property
    def name(self) -> str:
        """What to call it."""
        return f"worker {self.index}" if self.facts is None else self.seen(None, 0).name

    def seen(self, share: Share | None, counted: int) -> WorkerSeen:
        """Return what a result says of it."""
        found, share = self.facts or {}, share or Share()
        return WorkerSeen(
            self.index,
            found.get("host", "?"),
            found.get("address", "?"),
            found.get("pid", 0),
            found.get("machine", "?"),
            found.get("client", "?"),
            share.seconds,
            share.operations,
            share.failures,
            tuple(ns / 1e9 for ns in share.cpu_ns),
            self.use,
            self.clock.round_trip_s,
            self.clock.skew_s,
            self.ended,
            self.did - counted,
        )


class Fleet:
    """All workers of one test, and the windows that their drains go to."""

    def __init__(
        self,
        runner: MasterRunner,
        places: Mapping[str, int],
        windows: Windows,
        taken: Callable[[Drained], None],
    ) -> None:
        self.members = {worker: Member(index) for worker, index in places.items()}
        self._runner = runner
        self._windows = windows
        self._taken = taken
        self._merger: Merger | None = None

    # What workers say.

    def opened(self, worker: str, facts: Mapping[str, Any]) -> None:
        """Note that a worker's lanes may begin."""
        if (member := self.members.get(worker)) is not None:
            member.facts, member.heard = facts, time.monotonic()
            self._ping(worker)

    def _ping(self, worker: str) -> None:
        self._runner.send_message(messages.PING, {"sent": time.monotonic_ns()}, worker)

    def pong(self, worker: str, found: Mapping[str, Any]) -> None:
        """Note what a worker's clock is, and ask again until it is known well."""
        if (member := self.members.get(worker)) is not None:
            self._learn(member, found)
            if member.clock.pings < ENOUGH:
                self._ping(worker)

    def _learn(self, member: Member, found: Mapping[str, Any]) -> None:
        member.heard = time.monotonic()
        ping = Ping(found["sent"], found["received"], found["answered"], time.monotonic_ns())
        member.clock.learn(ping, found["epoch"])

    def report(self, worker: str, found: Mapping[str, Any]) -> None:
        """Take one drain."""
        member = self.members.get(worker)
        if member is None or self._merger is None or not self._merger.knows(worker):
            return
        if found["number"] is not None:
            self._learn(member, found)
        member.did = found["did"]
        if found["use"] is not None:
            member.use = Use.read(found["use"])
        part = messages.unpack(found["drained"])
        self._merger.answer(worker, found["number"], member.clock.placed(part))
        if found["last"] and found["number"] is None:
            self._gone(worker, "left")
        self._settle()

    def failed(self, worker: str, found: Mapping[str, str]) -> SitebenchError:
        """Return the error that a worker told of, with its name; it makes no load any more."""
        error = revive(found)
        name = worker
        if (member := self.members.get(worker)) is not None:
            name = member.name
            self._gone(worker, "left")
        return type(error)(f"{name}: {error.message}", error.remedy)

    # What is asked of them.

    def gather(self) -> None:
        """Wait until everybody's lanes may begin and clocks are known; then drains can be asked."""
        self._gather(OPENS_S, self._ready)
        if not self._there():
            raise WorkersMissing(
                "no worker could begin", "look at what the workers say on their own screens"
            )

    def _gather(self, within_s: float, ready: Callable[[Member], bool]) -> None:
        """Wait for members, unless somebody else has stopped waiting already."""
        give_up = time.monotonic() + within_s
        while self._merger is None:
            self._look_for_lost()
            missing = [m for m in self.members.values() if not (m.ended or ready(m))]
            if not missing or time.monotonic() > give_up:
                self._merger = Merger(self._there(), Phase.RAMP)
                return
            gevent.sleep(LOOK_S)

    def _there(self) -> dict[str, tuple[int, ...]]:
        """Return the workers that can be asked, and what CPU they had used when they began."""
        return {
            worker: tuple(member.facts["cpu"])
            for worker, member in self.members.items()
            if member.facts is not None and not member.ended
        }

    def await_users(self) -> None:
        """Wait until every user has a lane: Locust itself gives its workers a second."""
        give_up = time.monotonic() + OPENS_S
        while self._merger is None or self._runner.user_count != self._runner.target_user_count:
            if time.monotonic() > give_up or any(each.ended for each in self.members.values()):
                return
            gevent.sleep(LOOK_S)

    def _ready(self, member: Member) -> bool:
        return member.facts is not None and member.clock.pings >= ENOUGH

    def drain(self) -> None:
        """Ask for a drain; what comes back goes to the windows by and by."""
        self._ask()

    def discard(self) -> None:
        """Ask for a drain that Locust's screens shall not see."""
        self._ask(shown=False)

    def cross(self, phase: Phase) -> None:
        """Begin a phase, and wait until everybody has."""
        self._await(self._ask(phase))

    def finish(self) -> None:
        """Have all lanes stop, and take what they did."""
        # Who has not begun yet will: its lanes must not be left running.
        self._gather(QUIET_S, lambda member: member.facts is not None)
        self._await(self._ask(last=True))

    def _ask(
        self, begins: Phase | None = None, *, shown: bool = True, last: bool = False
    ) -> Round | None:
        if self._merger is None:
            return None
        made = self._merger.ask(begins)
        for worker in made.waiting:
            question = {
                "number": made.number,
                "begins": begins,
                "shown": shown,
                "last": last,
                "sent": time.monotonic_ns(),
            }
            self._runner.send_message(messages.DRAIN, question, worker)
        self._look_for_lost()
        self._settle()
        return made

    def _await(self, asked: Round | None) -> None:
        while asked is not None and asked.waiting:
            self._look_for_lost()
            self._settle()
            gevent.sleep(LOOK_S)
        self._settle()

    def _settle(self) -> None:
        if self._merger is None:
            return
        for asked, drained in self._merger.settled(time.monotonic_ns()):
            if asked.begins is None:
                self._windows.absorb(drained)
            else:
                self._windows.cross(drained, Phase(asked.begins))
            self._taken(drained)

    # Who is gone.

    def _look_for_lost(self) -> None:
        waiting = None if self._merger is None else self._merger.present
        for worker, member in self.members.items():
            if member.ended or (waiting is not None and worker not in waiting):
                continue
            node = self._runner.clients.get(worker)
            quiet = waiting is not None and time.monotonic() - member.heard > QUIET_S
            if node is None or node.state == STATE_MISSING or quiet:
                self._gone(worker, "lost")

    def _gone(self, worker: str, how: str) -> None:
        member = self.members[worker]
        if member.ended is None:
            member.ended = how
            if how == "lost":
                log.warning("%s was lost: what it had sent is counted", member.name)
        if self._merger is not None:
            self._merger.gone(worker)

    def seen(self) -> tuple[WorkerSeen, ...]:
        """Return what the measured window's result says of each worker."""
        if self._merger is None:
            return ()
        shares = self._merger.shares.get(Phase.MEASURE, {})
        return tuple(
            member.seen(shares.get(worker), self._counted(worker))
            for worker, member in self.members.items()
        )

    def _counted(self, worker: str) -> int:
        return 0 if self._merger is None else self._merger.counted(worker)

    def conclude(self) -> None:
        """Give the windows what a result needs beside the drains."""
        if self._merger is None or self._windows.measured is None:
            return
        self._windows.workers = self.seen()
        self._windows.measured.length_s = self._merger.window_s(Phase.MEASURE)
