"""Frozen dataclasses that cost little to make.

Of a `dataclass(frozen=True)` six functions are written and compiled, in half a millisecond: for
the 160 classes of a command that was a third of its start. Here `__init__` alone is compiled, and
what else a frozen dataclass has, all classes share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")
_PARAMETERS = "__dataclass_params__"
"""What the library asks of the classes above one: whether they are frozen."""


def _set_once(one: Any, name: str, value: object) -> None:
    """Set a field, as `__init__` does; what is set, and what is no field, stays as it is."""
    mine = vars(one)
    if (name in mine or name not in one.__dataclass_fields__) and _is_frozen(one, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    mine[name] = value


def _keep(one: Any, name: str) -> None:
    if _is_frozen(one, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(one, name)


def _is_frozen(one: Any, name: str) -> bool:
    """Return whether it may not be set: a class that only inherits may have attributes more."""
    return name in one.__dataclass_fields__ or "__dataclass_fields__" in vars(type(one))


def _alike(one: Any, other: Any) -> Any:
    if type(one) is not type(other):
        return NotImplemented
    return one._compared(one) == one._compared(other)


def _hash(one: Any) -> int:
    return hash(one._compared(one))


def _shown(one: Any) -> str:
    values = (f"{each.name}={getattr(one, each.name)!r}" for each in fields(one) if each.repr)
    return f"{type(one).__qualname__}({', '.join(values)})"


def _getter(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    if len(names) == 1:
        (name,) = names
        return lambda one: (getattr(one, name),)
    return attrgetter(*names) if names else lambda _: ()


_SHARED = {
    "__setattr__": _set_once,
    "__delattr__": _keep,
    "__eq__": _alike,
    "__hash__": _hash,
    "__repr__": _shown,
}


@overload
def frozen(cls: type[_T], /) -> type[_T]: ...
@overload
def frozen(*, kw_only: bool) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Any] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a frozen dataclass, as `dataclass(frozen=True)` does; methods of its own stay."""

    def made(cls: type[Any]) -> Any:
        own = {name for name, value in vars(cls).items() if value is not None}
        known = [getattr(each, _PARAMETERS) for each in cls.__mro__ if hasattr(each, _PARAMETERS)]
        above = [each for each in known if each.frozen]
        # The library makes none that is not frozen below one that is; this one will be.
        for parameters in above:
            parameters.frozen = False
        try:
            made = dataclass(repr=False, eq=False, kw_only=kw_only)(cls)
        finally:
            for parameters in above:
                parameters.frozen = True
        getattr(made, _PARAMETERS).frozen = True
        made._compared = staticmethod(_getter([each.name for each in fields(made) if each.compare]))
        for name, method in _SHARED.items():
            if name not in own:
                setattr(made, name, method)
        return made

    return made if cls is None else made(cls)
