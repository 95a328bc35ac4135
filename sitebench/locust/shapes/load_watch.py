"""What one load gives while a test goes on: from a drain of now to a result, beside the windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitebench.counts.source import Drained
from sitebench.counts.tally import Tally
from sitebench.monitor import Monitor, Sample, use_between
from sitebench.runs.point import PointResult, summarise

if TYPE_CHECKING:
    from sitebench.locust.recorder import Subject


class LoadWatch:
    """Hears every drain from its making on; the first is where its window begins."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._monitor = Monitor(subject.pid)
        self._tally: Tally | None = None
        self._before: Sample | None = None

    def drained(self, drained: Drained) -> None:
        """Take a drain."""
        if self._tally is None:
            self._tally = Tally.starting(drained)
            self._before = self._monitor.sample(thorough=True)
        else:
            self._tally.add(drained)

    @property
    def seconds(self) -> float:
        """How long it has watched."""
        return 0.0 if self._tally is None else self._tally.seconds

    def result(self) -> PointResult:
        """Return what the window gave, and watch no more."""
        assert self._tally is not None
        assert self._before is not None
        after = self._monitor.sample(thorough=True)
        self.close()
        return summarise(
            self._subject.spec(),
            self._tally,
            self._subject.counts,
            use_between(self._before, after, self._tally.seconds),
            target_cores=self._subject.cores,
            native=self._subject.native,
            figures=self._subject.figures(self._tally),
        )

    def close(self) -> None:
        """Watch no more."""
        self._monitor.close()
