"""Options of a command, and their record of explicitly set options."""

from dataclasses import dataclass, replace

import pytest

from sitebench.options import option
from sitebench.options.command import command, invoke
from sitebench.options.option import Options


@dataclass(frozen=True)
class Length(Options):
    """Options with a length."""

    measure: float | None = option.duration(10.0, "Length.")


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        ((), (False, Length())),
        (("--measure", "10s"), (True, Length())),
        (("-d", "2s"), (True, Length(measure=2.0))),
    ],
    ids=str,
)
def test_explicitly_set_default_is_recorded_as_set(
    argv: tuple[str, ...], found: tuple[bool, Length]
) -> None:
    seen = []

    @command(Length, panel="Measure")
    def take(options: Length) -> None:
        seen.append(options)

    assert invoke(take, "take", argv) == 0
    (options,) = seen
    assert (options.is_set("measure"), replace(options, explicit=frozenset())) == found
