"""Merges the drains of several workers to those of one test, in order; it sends nothing.

The master requests every drain by number. A round is the answers to one number; it is settled when
every worker has answered or is gone. Rounds are settled in order, so that all workers begin a phase
with the same round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

import msgspec

from sitebench.counts.source import Drain, StepTotals, ended, used_up


class Round(msgspec.Struct):
    """One request for drains, and its answers; `begins` is the next phase."""

    number: int
    waiting: set[str]
    begins: str | None = None
    parts: list[tuple[str, Drain]] = []


class Share(msgspec.Struct):
    """The operations of one worker in one phase, and the phase's length on that worker."""

    seconds: float = 0.0
    operations: int = 0
    failures: int = 0
    cpu_ns: tuple[int, ...] = ()

    def add(self, part: Drain, cpu_ns: tuple[int, ...]) -> None:
        steps = [step for step in ended(part) if not step.overlaps]
        self.seconds += (part.t1_ns - part.t0_ns) / 1e9
        self.operations += sum(step.count for step in steps)
        self.failures += sum(sum(step.failures.values()) for step in steps)
        if self.cpu_ns:
            cpu_ns = tuple(a + b for a, b in zip(self.cpu_ns, cpu_ns, strict=True))
        self.cpu_ns = cpu_ns


class Merger:
    """Merges the answers of workers; their instants are on the master's clock."""

    def __init__(self, cpu_ns: Mapping[str, tuple[int, ...]], phase: str) -> None:
        self.shares: dict[str, dict[str, Share]] = {}
        self._cpu_ns = dict(cpu_ns)
        """The CPU of each worker at its last answer, settled or not."""
        self._counted = dict.fromkeys(cpu_ns, 0)
        self._settled = {worker: Drain(0, 0, (), 0, cpu, 0, 0, 0) for worker, cpu in cpu_ns.items()}
        self._present = set(cpu_ns)
        self._phase = phase
        self._asked = 0
        self._open: dict[int, Round] = {}
        self._late: list[tuple[str, Drain]] = []
        self._end_ns: int | None = None

    @property
    def present(self) -> frozenset[str]:
        return frozenset(self._present)

    def ask(self, begins: str | None = None) -> Round:
        self._asked += 1
        open_round = self._open[self._asked] = Round(self._asked, set(self._present), begins)
        return open_round

    def answer(self, worker: str, number: int | None, part: Drain) -> None:
        """Take an answer; without a number it is a worker's last drain, which was not requested."""
        waiting_rounds = [r for r in self._open.values() if worker in r.waiting]
        if number is None:
            answered = waiting_rounds[:1]
        else:
            waiting_rounds = [r for r in waiting_rounds if r.number <= number]
            answered = [r for r in waiting_rounds if r.number == number]
        for open_round in answered:
            open_round.parts.append((worker, part))
        if not answered:
            self._late.append((worker, part))
        # Answers come in order: an earlier answer that is missing was lost.
        for open_round in waiting_rounds:
            open_round.waiting.discard(worker)
        self._note(worker, part, answered[0] if answered else None)

    def _note(self, worker: str, part: Drain, answered: Round | None) -> None:
        # The answer belongs to the newest phase that a round up to this one began, even if that
        # round is not settled yet.
        newest = self._asked if answered is None else answered.number - 1
        begun = [r.begins for r in self._open.values() if r.begins and r.number <= newest]
        phase = begun[-1] if begun else self._phase
        share = self.shares.setdefault(phase, {}).setdefault(worker, Share())
        cpu_ns = zip(self._cpu_ns[worker], part.cpu_ns, strict=True)
        share.add(part, tuple(end - start for start, end in cpu_ns))
        if answered is not None and answered.begins == phase:
            # The phase begins again: earlier counts are not part of it.
            del self.shares[phase][worker]
        self._cpu_ns[worker] = part.cpu_ns
        self._counted[worker] += sum(step.count for step in ended(part))

    def operations_of(self, worker: str) -> int:
        """Return how many operations a worker reported, if it has begun."""
        return self._counted.get(worker, 0)

    def knows(self, worker: str) -> bool:
        return worker in self._cpu_ns

    def remove(self, worker: str) -> None:
        self._present.discard(worker)
        for open_round in self._open.values():
            open_round.waiting.discard(worker)

    def settle(self, now_ns: int) -> Iterator[tuple[Round, Drain]]:
        """Yield complete rounds, merged and in order.

        Meanwhile the caller may take answers and make requests.
        """
        while self._open:
            number = min(self._open)
            open_round = self._open[number]
            if open_round.waiting:
                return
            del self._open[number]
            late, self._late = self._late, []
            yield open_round, self._merge([*late, *open_round.parts], now_ns)
            self._phase = open_round.begins or self._phase

    def _merge(self, answers: list[tuple[str, Drain]], now_ns: int) -> Drain:
        self._settled |= dict(answers)
        parts = [part for _, part in answers]
        end = sum(part.t1_ns for part in parts) // len(parts) if parts else now_ns
        begin = min((part.t0_ns for part in parts), default=end)
        begin = begin if self._end_ns is None else self._end_ns
        self._end_ns = max(begin, end)
        settled = self._settled.values()
        present = {worker for worker, _ in answers} | self._present
        return Drain(
            begin,
            self._end_ns,
            _merged_steps(part.steps for part in parts),
            sum(part.lanes for worker, part in self._settled.items() if worker in present),
            tuple(ns for part in settled for ns in part.cpu_ns),
            sum(part.lane_ns for part in parts),
            sum(part.waiting_ns for part in parts),
            sum(part.underway_ns for part in settled),
            self._lane_counts(answers),
            sum(part.backlog for part in settled),
            sum(part.in_flight for part in settled),
            sum(part.owed for worker, part in self._settled.items() if worker in self._present),
            _merged_steps(part.late for part in parts),
            _merged_steps(part.older for part in parts),
            sum(part.without_row for part in settled),
            sum(part.row_wait_ns for part in parts),
            sum(part.lost_rows for part in settled),
            [line for part in parts for line in part.log],
            [span for part in parts for span in part.spans],
        )

    def _lane_counts(self, answers: list[tuple[str, Drain]]) -> list[int]:
        """Return the counts of all lanes; a worker without an answer has zeros."""
        lane_counts = []
        for worker, settled in self._settled.items():
            counts = [part.lane_counts for name, part in answers if name == worker]
            places = settled.lane_counts
            lane_counts += [*map(sum, zip_longest(*counts, fillvalue=0))] or [0] * len(places)
        return lane_counts

    def window_s(self, phase: str) -> float | None:
        """Return a phase's total divided by the sum of the workers' rates.

        If a worker left early, or had no rows left, its rate is its number of operations divided by
        the longest length of all workers: it made no load later.
        """
        shares = self.shares.get(phase, {})
        longest = max((share.seconds for share in shares.values()), default=0.0)
        if not longest:
            return None
        to_the_end = {worker for worker in self._present if not used_up(self._settled[worker])}
        rate = sum(
            share.operations / (share.seconds if worker in to_the_end else longest)
            for worker, share in shares.items()
            if share.seconds
        )
        return sum(share.operations for share in shares.values()) / rate if rate else longest


def _merged_steps(parts: Iterable[Sequence[StepTotals]]) -> tuple[StepTotals, ...]:
    totals_by_key: dict[tuple[str, str], StepTotals] = {}
    for steps in parts:
        for step in steps:
            key = (step.program, step.step)
            totals_by_key.setdefault(key, StepTotals(*key)).add(step)
    return tuple(totals_by_key.values())
