"""Records in workers what their own lanes count, for `witnessed` locustfiles.

The witness sits between the lanes and all other code: its counts are compared with the received
counts.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from sitebench.counts.source import ended

FOLDER = "WITNESS"
"""Environment variable of the folder with the counts: a file for each process and test."""


class Witness:
    """A source of lanes, and the sums of all its snapshots."""

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
    """Insert a witness into all lanes that a suite's part of a test opens."""
    opened = suite_run.open

    def open_with_witness(self: Any, *arguments: Any) -> Any:
        lanes = opened(self, *arguments)
        lanes.source = Witness(lanes.source)
        return lanes

    suite_run.open = open_with_witness


def seen_by_process(folder: Path) -> dict[int, Counter[str]]:
    """Return the counts of every worker's lanes by process, and delete them."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        found[int(path.name.partition(".")[0])] = Counter(json.loads(path.read_text()))
        path.unlink()
    return found


def seen(folder: Path) -> list[Counter[str]]:
    """Return the counts of every worker's lanes, and delete them."""
    return list(seen_by_process(folder).values())
