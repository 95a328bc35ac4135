"""Formulas written once, then computed, or printed as Excel, as JavaScript and in words.

The planner answers on the command line, in a workbook and in a web page. All three use the same
`Formula`, so that they cannot differ: `value` computes it here, `excel` and `script` print it for
the others, operation by operation in the same order, so that even the last bit is equal.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Name = Callable[[str], str]
"""Returns an input's name in another language: a cell, a property of an object."""

Number = float | int

_SPELLING = {"*": "x", "-": "-", "/": "/", "+": "+"}
"""Operators in words, in ASCII for any terminal."""

_ROUNDING = 1e-9
"""By how much a rounding error may exceed a whole number before it is rounded up."""


class Formula(ABC):
    """An expression over named inputs."""

    @abstractmethod
    def value(self, inputs: Mapping[str, float]) -> float:
        """Compute it."""

    @abstractmethod
    def excel(self, name: Name) -> str:
        """Return it as Excel and LibreOffice read it."""

    @abstractmethod
    def script(self, name: Name) -> str:
        """Return it in JavaScript."""

    @abstractmethod
    def words(self, inputs: Mapping[str, float]) -> str:
        """Return it for people: of a condition, the side that applies to these inputs."""

    def __add__(self, other: Formula | Number) -> Formula:
        return Operation("+", self, formula(other))

    def __sub__(self, other: Formula | Number) -> Formula:
        return Operation("-", self, formula(other))

    def __rsub__(self, other: Number) -> Formula:
        return Operation("-", formula(other), self)

    def __mul__(self, other: Formula | Number) -> Formula:
        return Operation("*", self, formula(other))

    def __truediv__(self, other: Formula | Number) -> Formula:
        return Operation("/", self, formula(other))


def formula(value: Formula | Number) -> Formula:
    """Return a number as a formula, and a formula as it is."""
    return value if isinstance(value, Formula) else Constant(float(value))


@dataclass(frozen=True)
class Input(Formula):
    """A number that is typed in, or the result of an earlier step of the law."""

    key: str

    def value(self, inputs: Mapping[str, float]) -> float:
        return inputs[self.key]

    def excel(self, name: Name) -> str:
        return name(self.key)

    def script(self, name: Name) -> str:
        return name(self.key)

    def words(self, inputs: Mapping[str, float]) -> str:
        return self.key.replace("_", " ")


@dataclass(frozen=True)
class Constant(Formula):
    """A number of the law itself."""

    number: float

    def value(self, inputs: Mapping[str, float]) -> float:
        return self.number

    def excel(self, name: Name) -> str:
        return f"{self.number:.15g}"

    def script(self, name: Name) -> str:
        return f"{self.number:.15g}"

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"{self.number:.15g}"


@dataclass(frozen=True)
class Operation(Formula):
    """Two formulas and the operator between them."""

    sign: str
    left: Formula
    right: Formula

    def value(self, inputs: Mapping[str, float]) -> float:
        left, right = self.left.value(inputs), self.right.value(inputs)
        match self.sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return left / right

    def excel(self, name: Name) -> str:
        # Every parenthesis, so that the order of operations is that of `value`.
        return f"({self.left.excel(name)}{self.sign}{self.right.excel(name)})"

    def script(self, name: Name) -> str:
        # Every parenthesis, so that the order of operations is that of `value`.
        return f"({self.left.script(name)} {self.sign} {self.right.script(name)})"

    def words(self, inputs: Mapping[str, float]) -> str:
        # Only the parentheses that a reader needs.
        left, right = self.left.words(inputs), self.right.words(inputs)
        of_left, of_right = _active_side(self.left, inputs), _active_side(self.right, inputs)
        sum_left = isinstance(of_left, Operation) and of_left.sign in "+-"
        if isinstance(of_left, _SPELT_OUT) or (self.sign in "*/" and sum_left):
            left = f"({left})"
        if isinstance(of_right, _SPELT_OUT) or (
            self.sign != "+" and isinstance(of_right, Operation)
        ):
            right = f"({right})"
        return f"{left} {_SPELLING[self.sign]} {right}"


def _active_side(side: Formula, inputs: Mapping[str, float]) -> Formula:
    """Return the formula whose words stand for one: of a condition, the side that applies."""
    while isinstance(side, IfAny):
        side = side.then if side.condition.value(inputs) > 0 else side.otherwise
    return side


@dataclass(frozen=True)
class Least(Formula):
    """The smaller of two."""

    left: Formula
    right: Formula

    def value(self, inputs: Mapping[str, float]) -> float:
        return min(self.left.value(inputs), self.right.value(inputs))

    def excel(self, name: Name) -> str:
        return f"MIN({self.left.excel(name)},{self.right.excel(name)})"

    def script(self, name: Name) -> str:
        return f"Math.min({self.left.script(name)}, {self.right.script(name)})"

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"the smaller of {self.left.words(inputs)} and {self.right.words(inputs)}"


@dataclass(frozen=True)
class WholeUp(Formula):
    """The next whole number, at least 1: half a machine cannot be bought."""

    of: Formula

    def value(self, inputs: Mapping[str, float]) -> float:
        return max(1.0, float(math.ceil(self.of.value(inputs) - _ROUNDING)))

    def excel(self, name: Name) -> str:
        return f"MAX(1,ROUNDUP({self.of.excel(name)}-{_ROUNDING:.0E},0))"

    def script(self, name: Name) -> str:
        return f"Math.max(1, Math.ceil({self.of.script(name)} - {_ROUNDING!r}))"

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"{self.of.words(inputs)}, rounded up"


@dataclass(frozen=True)
class IfAny(Formula):
    """One formula where a condition is above zero, else another."""

    condition: Formula
    then: Formula
    otherwise: Formula

    def value(self, inputs: Mapping[str, float]) -> float:
        # Only the side that applies: the other may divide by a number that is missing.
        side = self.then if self.condition.value(inputs) > 0 else self.otherwise
        return side.value(inputs)

    def excel(self, name: Name) -> str:
        parts = f"{self.then.excel(name)},{self.otherwise.excel(name)}"
        return f"IF({self.condition.excel(name)}>0,{parts})"

    def script(self, name: Name) -> str:
        parts = f"{self.then.script(name)} : {self.otherwise.script(name)}"
        return f"({self.condition.script(name)} > 0 ? {parts})"

    def words(self, inputs: Mapping[str, float]) -> str:
        return _active_side(self, inputs).words(inputs)


_SPELT_OUT = (Least, WholeUp)
"""What has words of its own, where another formula has signs."""
