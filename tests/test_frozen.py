"""A class of `frozen` is a frozen dataclass: the library's own, beside it, does the same."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from functools import cached_property
from typing import Any

import pytest

from sitebench.frozen import frozen


def _part(decorate: Callable[[type[Any]], type[Any]]) -> type[Any]:
    class Part:
        name: str
        size: int = 3
        key: str = field(default="secret", repr=False)
        took: float = field(default=0.0, compare=False)
        tags: tuple[str, ...] = field(default_factory=tuple)

        @cached_property
        def length(self) -> int:
            return len(self.name)

    return decorate(Part)


LIBRARY, OURS = _part(dataclass(frozen=True)), _part(frozen)


@frozen
class Kept:
    """One that other modules can name, as pickling asks for."""

    name: str
    size: int = 3


@frozen
class Empty:
    """One without a field."""


@frozen(kw_only=True)
class Longer(Kept):
    unit: str


@pytest.mark.parametrize("other", [{}, {"size": 4}, {"key": "x"}, {"took": 2.0}, {"tags": ("a",)}])
def test_it_is_shown_compared_and_hashed_as_the_library_s_is(other: dict[str, Any]) -> None:
    for cls in (LIBRARY, OURS):
        one, two = cls("a"), cls("a", **other)
        same = set(other) <= {"took"}
        assert (one == two, one != two, hash(one) == hash(two)) == (same, not same, same)
    assert repr(OURS("a", **other)) == repr(LIBRARY("a", **other))


def test_no_other_class_is_equal() -> None:
    others: list[Any] = [Longer("a", unit="s"), Empty(), ("a", 3), "a"]
    for other in others:
        assert Kept("a") != other
        assert other != Kept("a")
    assert (Empty(), hash(Empty()), repr(Empty())) == (Empty(), hash(Empty()), "Empty()")


@pytest.mark.parametrize("cls", [LIBRARY, OURS], ids=["library", "ours"])
@pytest.mark.parametrize("name", ["name", "size", "tags", "unheard_of"])
def test_nothing_of_it_is_changed(cls: type[Any], name: str) -> None:
    one = cls("a")
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(one, name, 1)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(one, name)
    assert one == cls("a")


@pytest.mark.parametrize("cls", [LIBRARY, OURS], ids=["library", "ours"])
def test_what_it_reckons_once_is_no_part_of_it(cls: type[Any]) -> None:
    one = cls("four")
    assert one.length == 4
    assert one == cls("four")
    assert hash(one) == hash(cls("four"))


@pytest.mark.parametrize("above", [LIBRARY, OURS], ids=["library", "ours"])
@pytest.mark.parametrize("decorate", [dataclass(frozen=True), frozen], ids=["library", "ours"])
def test_what_inherits_from_it_is_frozen_too(above: type[Any], decorate: Any) -> None:
    below = decorate(type("Below", (above,), {"__annotations__": {"unit": "str"}, "unit": "s"}))
    assert below("a", unit="t") == below("a", unit="t") != below("a")
    assert repr(below("a")) == "Below(name='a', size=3, took=0.0, tags=(), unit='s')"
    for name in ("size", "unit", "unheard_of"):
        with pytest.raises(FrozenInstanceError):
            setattr(below("a"), name, 1)
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(type("Below", (above,), {}))


@pytest.mark.parametrize("above", [LIBRARY, OURS], ids=["library", "ours"])
def test_one_that_cannot_be_made_leaves_the_class_above_frozen(above: type[Any]) -> None:
    with pytest.raises(TypeError, match="non-default argument"):
        frozen(type("Below", (above,), {"__annotations__": {"unit": "str"}}))
    dataclass(frozen=True)(type("Below", (above,), {}))


@pytest.mark.parametrize("above", [LIBRARY, OURS], ids=["library", "ours"])
def test_what_only_inherits_from_it_may_have_attributes_of_its_own(above: type[Any]) -> None:
    one = type("Below", (above,), {})("a")
    one.own = 1
    one.own = 2
    assert one.own == 2
    del one.own
    assert not hasattr(one, "own")
    with pytest.raises(FrozenInstanceError):
        one.size = 1
    with pytest.raises(FrozenInstanceError):
        del one.size


def test_of_one_field_it_is_the_same() -> None:
    @dataclass(frozen=True)
    class Library:
        value: Any

    @frozen
    class Ours:
        value: Any

    for value in ("a", (1, 2)):
        assert (Ours(value) == Ours(value)) is (Library(value) == Library(value))
        assert hash(Ours(value)) == hash(Library(value))


def test_copies_are_equal_and_frozen() -> None:
    one = Longer("a", unit="s")
    copies = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    copies.append(dataclasses.replace(dataclasses.replace(one, size=9), size=3))
    for each in copies:
        assert each == one
        with pytest.raises(FrozenInstanceError):
            each.size = 4
    assert dataclasses.asdict(one) == {"name": "a", "size": 3, "unit": "s"}


def test_a_field_by_name_alone_is_not_taken_by_place() -> None:
    with pytest.raises(TypeError, match="positional"):
        Longer("a", 3, "s")  # type: ignore[call-arg]


def test_methods_of_its_own_stay() -> None:
    @frozen
    class Own:
        name: str

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Own("a")), hash(Own("a"))) == ("mine", 7)
    assert Own("a") == Own("b")


def test_one_with_a_comparison_of_its_own_can_be_hashed_all_the_same() -> None:
    for decorate in (dataclass(frozen=True), frozen):
        own = {"__annotations__": {"name": "str"}, "__eq__": lambda one, other: True}
        cls: Any = decorate(type("Own", (), {**own, "__hash__": None}))
        assert hash(cls("a")) == hash(cls("a")) != hash(cls("b"))
