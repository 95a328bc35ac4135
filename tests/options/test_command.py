"""What a command is made of: what it was given is known from what it takes for itself."""

import pytest

from sitebench.frozen import frozen
from sitebench.options import option
from sitebench.options.command import command, invoke


@frozen
class Length:
    """A length, and whether it was given."""

    measure: float | None = option.duration(10.0, "Length.")
    measure_given: bool = option.given("measure")


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        ((), Length(10.0, measure_given=False)),
        (("--measure", "10s"), Length(10.0, measure_given=True)),
        (("-d", "2s"), Length(2.0, measure_given=True)),
    ],
    ids=str,
)
def test_a_value_that_equals_the_default_may_have_been_given(
    argv: tuple[str, ...], found: Length
) -> None:
    seen = []

    @command(Length, panel="Measure")
    def take(options: Length) -> None:
        """Take it."""
        seen.append(options)

    assert invoke(take, "take", argv) == 0
    assert seen == [found]
