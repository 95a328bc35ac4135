"""The points that a command would measure, without measurements."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from sitebench.runs.point import PointSpec
from tests.support.cli import in_process


@contextmanager
def unmeasured() -> Iterator[list[PointSpec]]:
    """Replace measurements by nothing; yield the list of planned points."""
    specs: list[PointSpec] = []

    def measure(options: Any, *, stages: Callable[[Any], Sequence[Any]], **_: Any) -> None:
        specs.extend(
            test.spec for stage in stages(lambda done, total: None) for test in stage.tests
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sitebench.measure.command.measure", measure)
        patch.setattr("sitebench.suite_base.vary.measure", measure)
        yield specs


def planned(*argv: str) -> list[PointSpec]:
    """Return the specifications of a command's points, in order."""
    with unmeasured() as specs:
        done = in_process(*argv)
    assert done.code == 0, done.err
    return specs
