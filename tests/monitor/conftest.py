import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.monitor.monitor import Monitor
from tests.support.actor import Actor, acting


@pytest.fixture(autouse=True)
def closed_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every monitor after its test."""
    made: list[Monitor] = []
    begin = Monitor.__init__

    def noted(self: Monitor, *positional: Any, **named: Any) -> None:
        begin(self, *positional, **named)
        made.append(self)

    monkeypatch.setattr(Monitor, "__init__", noted)
    yield
    for each in made:
        each.close()


@pytest.fixture
def actor() -> Iterator[Actor]:
    """A process that does what it is told."""
    with acting() as made:
        yield made


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """The path of a new file on a disk, because /tmp may be memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="sitebench-") as folder:
        yield Path(folder) / "file"
