"""Formulas that are computed, or printed for Excel, in JavaScript and in words.

The command line, the workbook and the page use the same `Formula`, with operations in the same
order, so that even the last bits of their results are equal.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from typing import ClassVar

Name = Callable[[str], str]
"""Returns an input's name in another language: a cell of Excel, or a property in JavaScript."""

Number = float | int

_ROUNDING = 1e-9
"""The largest rounding error of a whole number."""


class Formula(ABC):
    """An expression over named inputs."""

    _EXCEL: ClassVar[str]
    _SCRIPT: ClassVar[str]
    """JavaScript of a formula; names of fields are replaced by the texts of the fields."""

    @abstractmethod
    def value(self, inputs: Mapping[str, float]) -> float: ...

    @abstractmethod
    def words(self, inputs: Mapping[str, float]) -> str:
        """Return the formula in words; for a condition, the branch that applies."""

    def excel(self, name: Name) -> str:
        """Return the formula for Excel and LibreOffice."""
        return self._EXCEL.format_map(self._fields(lambda part: part.excel(name)))

    def script(self, name: Name) -> str:
        return self._SCRIPT.format_map(self._fields(lambda part: part.script(name)))

    def _fields(self, text: Callable[[Formula], str]) -> dict[str, object]:
        fields = vars(self).items()
        return {key: text(field) if isinstance(field, Formula) else field for key, field in fields}

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
    number: float

    _EXCEL = _SCRIPT = "{number:.15g}"

    def value(self, inputs: Mapping[str, float]) -> float:
        return self.number

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"{self.number:.15g}"


@dataclass(frozen=True)
class Operation(Formula):
    sign: str
    left: Formula
    right: Formula

    # All parentheses are written, so that the order of operations is the same as in `value`.
    _EXCEL, _SCRIPT = "({left}{sign}{right})", "({left} {sign} {right})"

    def value(self, inputs: Mapping[str, float]) -> float:
        return _OPERATORS[self.sign](self.left.value(inputs), self.right.value(inputs))

    def words(self, inputs: Mapping[str, float]) -> str:
        # Parentheses that a reader does not need are left out.
        left, right = self.left.words(inputs), self.right.words(inputs)
        of_left, of_right = _active_side(self.left, inputs), _active_side(self.right, inputs)
        sum_left = isinstance(of_left, Operation) and of_left.sign in "+-"
        if isinstance(of_left, _SPELT_OUT) or (self.sign in "*/" and sum_left):
            left = f"({left})"
        if isinstance(of_right, _SPELT_OUT) or (
            self.sign != "+" and isinstance(of_right, Operation)
        ):
            right = f"({right})"
        # The sign is ASCII, so that every terminal shows it.
        return f"{left} {self.sign.replace('*', 'x')} {right}"


_OPERATORS: Mapping[str, Callable[[float, float], float]]
_OPERATORS = {"+": add, "-": sub, "*": mul, "/": truediv}


def _active_side(side: Formula, inputs: Mapping[str, float]) -> Formula:
    """Return a formula; for a condition, the side that applies."""
    while isinstance(side, IfAny):
        side = side.then if side.condition.value(inputs) > 0 else side.otherwise
    return side


@dataclass(frozen=True)
class Least(Formula):
    left: Formula
    right: Formula

    _EXCEL, _SCRIPT = "MIN({left},{right})", "Math.min({left}, {right})"

    def value(self, inputs: Mapping[str, float]) -> float:
        return min(self.left.value(inputs), self.right.value(inputs))

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"the smaller of {self.left.words(inputs)} and {self.right.words(inputs)}"


@dataclass(frozen=True)
class WholeUp(Formula):
    """The next whole number, at least 1, because half a machine cannot be bought."""

    of: Formula

    _EXCEL = f"MAX(1,ROUNDUP({{of}}-{_ROUNDING:.0E},0))"
    _SCRIPT = f"Math.max(1, Math.ceil({{of}} - {_ROUNDING!r}))"

    def value(self, inputs: Mapping[str, float]) -> float:
        return max(1.0, float(math.ceil(self.of.value(inputs) - _ROUNDING)))

    def words(self, inputs: Mapping[str, float]) -> str:
        return f"{self.of.words(inputs)}, rounded up"


@dataclass(frozen=True)
class IfAny(Formula):
    """A formula if a condition is above zero, else another formula."""

    condition: Formula
    then: Formula
    otherwise: Formula

    _EXCEL, _SCRIPT = (
        "IF({condition}>0,{then},{otherwise})",
        "({condition} > 0 ? {then} : {otherwise})",
    )

    def value(self, inputs: Mapping[str, float]) -> float:
        # The branch that does not apply may divide by a missing number.
        return _active_side(self, inputs).value(inputs)

    def words(self, inputs: Mapping[str, float]) -> str:
        return _active_side(self, inputs).words(inputs)


_SPELT_OUT = (Least, WholeUp)
"""Formulas that are words, such as "rounded up": within an operation they get parentheses."""
