"""Lanes and directory count independently: a difference of one operation is noticed."""

from dataclasses import replace

import pytest

from benches.soak.account import KINDS, STAYED, Counted, account
from benches.soak.mix import STEPS

COUNTED = [
    Counted("lookup", "bind", 10, 0),
    Counted("lookup", "lookup", 1_000, 1),
    Counted("add", "add", 300, 2),
    Counted("register", "register", 40, 0),
    Counted("register", "announce", 40, 0),
    Counted("register", "refresh", 40, 0),
    Counted("register", "leave", 39, 1),
    Counted("prolong", "enter", 60, 0),
    Counted("prolong", "prolong", 60, 0),
]
BEFORE = dict.fromkeys((*KINDS.values(), "expired"), 7) | {"entries": 10_000}
AFTER = {
    "binds": 7 + 10,
    "searches": 7 + 1_040,
    "adds": 7 + 400,
    "modifies": 7 + 40,
    "deletes": 7 + 39,
    "extended": 7 + 60,
    "expired": 7 + 250,
    # 398 people were added, 38 deleted, 250 expired.
    "entries": 10_000 + 110,
}


def wrong(counted: list[Counted], after: dict[str, int]) -> list[str]:
    return [line.what for line in account(counted, BEFORE, after) if not line.holds]


def test_equal_counts_of_lanes_and_directory_pass() -> None:
    assert wrong(COUNTED, AFTER) == []


@pytest.mark.parametrize("kind", [*KINDS.values(), "expired", "entries"])
@pytest.mark.parametrize("n", [-1, 1])
def test_difference_of_one_operation_in_the_directory_is_noticed(kind: str, n: int) -> None:
    after = AFTER | {kind: AFTER[kind] + n}
    assert wrong(COUNTED, after) == [kind if kind in KINDS.values() else STAYED]


@pytest.mark.parametrize("n", range(len(COUNTED)))
def test_operation_missing_from_lane_counts_is_noticed(n: int) -> None:
    one = replace(COUNTED[n], count=COUNTED[n].count - 1)
    assert wrong([*COUNTED[:n], one, *COUNTED[n + 1 :]], AFTER)


def test_every_step_except_connect_and_unbind_is_counted() -> None:
    kinds = {kind for steps in STEPS.values() for kind in steps.values()}
    assert kinds - set(KINDS) == {"connect", "unbind"}
