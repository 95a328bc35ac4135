"""The printed formulas equal the computed formulas."""

import random

import pytest

from sitebench.plan.formula import Formula, IfAny, Input, Least, Operation, WholeUp

VALUES = {"a": 0.3, "b": 1.5, "c": 7.0, "d": 0.0}


def drawn(dice: random.Random, depth: int) -> Formula:
    if depth == 0:
        return Input(dice.choice("abc"))
    one, other = drawn(dice, depth - 1), drawn(dice, dice.randrange(depth))
    if dice.random() < 0.3:
        return IfAny(Input(dice.choice("ad")), one, other)
    return Operation(dice.choice("+-*/"), one, other)


def test_printed_formula_matches_its_value() -> None:
    dice, tried = random.Random(1997), 0
    while tried < 500:
        made = drawn(dice, 4)
        try:
            value = made.value(VALUES)
        except ZeroDivisionError:
            continue
        said = made.words(VALUES)
        assert eval(said.replace(" x ", " * "), dict(VALUES)) == pytest.approx(value), said
        tried += 1


def test_named_subexpression_is_printed_in_parentheses() -> None:
    least = Least(1 - Input("a"), Input("b"))
    assert (least / Input("c")).words(VALUES) == "(the smaller of 1 - a and b) / c"
    assert (IfAny(Input("d"), least, 1 - Input("a")) / Input("c")).words(VALUES) == "(1 - a) / c"


@pytest.mark.parametrize(
    ("value", "up"), [(3.0, 3), (3.0000000001, 3), (2.9999999999, 3), (3.000001, 4), (3.5, 4)]
)
def test_rounding_error_does_not_add_a_machine(value: float, up: int) -> None:
    """0.1 + 0.2 of ten are three machines, not four."""
    assert WholeUp(Input("n")).value({"n": value}) == up
