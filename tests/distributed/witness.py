"""Has workers write down what their own lanes say they did, for `witnessed` locustfiles.

The witness stands between the lanes and everything else: what it saw is compared with what arrived.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from sitebench.counts.source import ended

FOLDER = "WITNESS"
"""Environment variable with the folder of what was seen: a file for each process and test."""


class Witness:
    """A source of lanes, and the sums of all that it ever handed out."""

    tests = 0

    def __init__(self, source: Any) -> None:
        self._source = source
        Witness.tests += 1
        self._file = Path(os.environ[FOLDER]) / f"{os.getpid()}.{Witness.tests}.json"
        self._did: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def drain(self) -> Any:
        return self._saw(self._source.drain())

    def cut(self) -> Any:
        return self._saw(self._source.cut())

    def stop(self, timeout_s: float = 5.0) -> Any:
        return self._saw(self._source.stop(timeout_s))

    def _saw(self, drained: Any) -> Any:
        for step in ended(drained):
            self._did[step.step] += step.count
        draft = self._file.with_suffix(".draft")
        draft.write_text(json.dumps(self._did))
        draft.rename(self._file)
        return drained


def witnessed(suite_run: type[Any]) -> None:
    """Put a witness behind every session that a suite's part of a test opens."""
    opened = suite_run.open

    def open_with_witness(self: Any, *arguments: Any) -> Any:
        session = opened(self, *arguments)
        session.source = Witness(session.source)
        return session

    suite_run.open = open_with_witness


def seen_by_process(folder: Path) -> dict[int, Counter[str]]:
    """Return what every worker's lanes did, by its process, and forget it."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        found[int(path.name.partition(".")[0])] = Counter(json.loads(path.read_text()))
        path.unlink()
    return found


def seen(folder: Path) -> list[Counter[str]]:
    """Return what every worker's lanes did, and forget it."""
    return list(seen_by_process(folder).values())
