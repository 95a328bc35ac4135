"""Advice about a run: each cause once, with its points and its remedy."""

import pytest
from rich.console import Console

from sitebench.runs.point import PointResult, PointSpec
from sitebench.tables.advice import WhatToDo
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import PointWarning, WarningKind
from sitebench.verdict.warnings import QUOTA, WOKE_LATE
from tests.support.points import a_result, a_spec, judged


def warned(kind: str, remedy: str = "", message: str = "") -> PointWarning:
    return PointWarning(kind, message or f"seen: {kind}", remedy or f"do: {kind}")


def a_point(
    *warnings: PointWarning, spec: PointSpec | None = None, bound: str = Bound.TARGET_CPU
) -> PointResult:
    found = a_result(spec)
    valid = bound == Bound.TARGET_CPU
    return judged(found, bound=bound, valid=valid, evidence="because", warnings=warnings)


def advised(*results: PointResult) -> list[str]:
    return WhatToDo(results).lines(10_000)


NOISY = warned(WarningKind.NOISY_MACHINE)
FEW = warned(WarningKind.TOO_FEW_SAMPLES)
SHARED = warned(WarningKind.SHARED_CORES)
STARVED = warned(WarningKind.GENERATOR_STARVED)
UNREAD = warned(WarningKind.ANSWERS_UNREAD)
CEILING = warned(WarningKind.GENERATOR_NEAR_CEILING)
SHORT = warned(WarningKind.TOO_SHORT)
SWAP = warned(WarningKind.SWAP)
LATE = warned(WarningKind.SCHEDULE_LAG, WOKE_LATE)


def test_point_without_advice_prints_nothing() -> None:
    console = Console(record=True, width=80)
    console.print(WhatToDo([a_point()]))
    assert console.export_text() == ""


def test_advice_for_a_single_point_does_not_name_the_point() -> None:
    assert advised(a_point(SWAP)) == ["- do: swap", "  seen: swap"]


def test_common_cause_of_two_points_has_one_remedy() -> None:
    other = warned(WarningKind.SWAP, message="seen: other figures")
    points = (a_point(SWAP), a_point(other, spec=a_spec(entries=10_000)))
    assert advised(*points) == ["- do: swap (both points)", "  lookup at 1k: seen: swap"]


@pytest.mark.parametrize(
    ("warnings", "left"),
    [
        ((STARVED, UNREAD, NOISY, LATE), [NOISY]),
        ((STARVED, UNREAD, SHARED), [SHARED]),
        ((STARVED, UNREAD), [STARVED]),
        ((UNREAD, CEILING), [CEILING]),
        ((CEILING, SHARED), [CEILING, SHARED]),
        ((UNREAD,), [UNREAD]),
        # The reason why a percentile is n/a is a separate question.
        ((SHORT, FEW), [SHORT, FEW]),
    ],
)
def test_each_cause_is_named_once(
    warnings: tuple[PointWarning, ...], left: list[PointWarning]
) -> None:
    lines = advised(a_point(*warnings))
    assert [line for line in lines if line.startswith("-")] == [f"- {w.remedy}" for w in left]


@pytest.mark.parametrize(
    "other",
    [
        warned(WarningKind.GENERATOR_STARVED, QUOTA),
        warned(WarningKind.SCHEDULE_LAG, "use more users"),
    ],
)
def test_quota_and_too_few_users_are_separate_causes(other: PointWarning) -> None:
    assert f"- {other.remedy}" in advised(a_point(NOISY, other))


@pytest.mark.parametrize(
    ("bound", "known", "remedy"),
    [
        (Bound.GENERATOR, (SHARED,), "run sitebench on another machine, or give it more threads"),
        (Bound.UNSETTLED, (), "do not use its rate"),
    ],
)
def test_invalid_point_has_its_cause_and_remedy(
    bound: str, known: tuple[PointWarning, ...], remedy: str
) -> None:
    first, why, *_ = advised(a_point(*known, bound=bound))
    assert first.startswith(f"- {remedy}")
    assert why == "  because"


def test_points_in_advice_are_named_by_their_differences() -> None:
    one, ten = a_spec(), a_spec(entries=10_000)
    added = a_spec("add", 10_000)
    points = (
        a_point(SWAP, spec=one),
        a_point(SWAP, spec=ten),
        a_point(SWAP, spec=added),
        a_point(spec=a_spec("connect")),
    )
    assert advised(*points)[0] == "- do: swap (lookup at 1k, 10k; add at 10k)"

    few, many = (a_spec("page", 0, users=users) for users in (4, 1_000))
    first, why = advised(a_point(spec=few), a_point(SWAP, spec=many))
    assert first == "- do: swap (page, 1,000 clients)"
    assert why == "  page, 1,000 clients: seen: swap"


def test_points_of_one_size_are_named_by_their_clients() -> None:
    few, many = (a_spec(users=users) for users in (4, 1_000))
    first, why = advised(a_point(spec=few), a_point(SWAP, spec=many))
    assert first == "- do: swap (lookup, 1,000 clients)"
    assert why == "  lookup at 1k, 1,000 clients: seen: swap"


def test_points_that_differ_in_a_setting_are_counted() -> None:
    """Levels of `vary` have the same size and the same users."""
    settings = ({"keys": each} for each in ("uniform", "zipfian", "latest"))
    points = [a_point(SWAP, spec=a_spec(settings=each)) for each in settings]
    assert advised(*points[:2], a_point(spec=points[2].spec))[0] == "- do: swap (2 of 3 points)"


def test_cause_in_some_repeats_is_printed_with_their_number() -> None:
    specs = [a_spec(repeat=n) for n in range(3)]
    points = [a_point(spec=specs[0]), *(a_point(SWAP, spec=spec) for spec in specs[1:])]
    assert advised(*points) == [
        "- do: swap (lookup at 1k (2 of 3 repeats))",
        "  lookup at 1k, repeat 2: seen: swap",
    ]


def test_number_of_repeats_is_printed_after_the_number_of_clients() -> None:
    specs = [a_spec(users=users, repeat=n) for users in (4, 64) for n in range(2)]
    points = [a_point(spec=each) for each in specs[:3]] + [a_point(SWAP, spec=specs[3])]
    assert advised(*points)[0] == "- do: swap (lookup, 64 clients (1 of 2 repeats))"


def test_advice_on_more_samples_comes_last() -> None:
    points = (a_point(SHORT), a_point(SHORT, SWAP, spec=a_spec("add")))
    assert [line[:7] for line in advised(*points)[::2]] == ["- do: s", "- do: t"]


def test_longer_windows_of_two_causes_and_points_are_one_remedy() -> None:
    """Three lines advised to measure for 30 s, for a minute and for 93 s."""
    short = warned(WarningKind.TOO_SHORT, "measure longer: --measure 30s", "too short")
    few = warned(WarningKind.TOO_FEW_SAMPLES, "measure longer: --measure 100s", "few")
    other = warned(WarningKind.TOO_SHORT, "measure longer: --measure 1m", "short, too")
    for warnings in ((short, few), (few, short)):
        lines = advised(a_point(*warnings), a_point(other, spec=a_spec("add")))
        assert lines[0] == "- measure longer: --measure 100s (both points)"
        assert len(lines) == 2
        assert {"too short", "few"} == set(lines[1].partition(": ")[2].split("; "))


def test_control_characters_of_server_messages_are_escaped() -> None:
    said = warned(WarningKind.FAILURES, message="it said \x1b[2J\x07")
    assert advised(a_point(said))[1] == r"  it said \x1b[2J\x07"


def test_lines_are_wrapped_at_the_terminal_width() -> None:
    long = warned(WarningKind.SWAP, "end other-programs " * 9, "it swapped " * 20)
    lines = WhatToDo([a_point(long)]).lines(40)
    assert max(map(len, lines)) <= 40
    assert (
        " ".join(" ".join(lines).split())
        == f"- {'end other-programs ' * 9}{'it swapped ' * 20}"[:-1]
    )
