"""What a command is made of: its options know which of them were set."""

from dataclasses import dataclass, replace

import pytest

from sitebench.options import option
from sitebench.options.command import command, invoke
from sitebench.options.option import Options


@dataclass(frozen=True)
class Length(Options):
    """A length."""

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
def test_default_may_be_set_explicitly(argv: tuple[str, ...], found: tuple[bool, Length]) -> None:
    seen = []

    @command(Length, panel="Measure")
    def take(options: Length) -> None:
        """Take it."""
        seen.append(options)

    assert invoke(take, "take", argv) == 0
    (options,) = seen
    assert (options.is_set("measure"), replace(options, explicit=frozenset())) == found
