"""Arguments of the Python API, checked against the annotations of its functions."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable, Container, Mapping
from numbers import Integral, Real
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from sitebench.errors import BadInput, SitebenchError
from sitebench.options.spelling import nearest

_P = ParamSpec("_P")
_T = TypeVar("_T")
_OPTION = re.compile("--([a-z][a-z-]*)")
_NUMBERS = {int: Integral, float: Real}


def check_arguments(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Refuse unknown arguments, and arguments of another type, with a message of one line.

    Messages of errors name parameters of the function in place of a command's options.
    """
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        title = function.__qualname__.partition(".")[0]
        for name in kwargs:
            if name not in signature.parameters:
                names = [name for name in signature.parameters if name != "self"]
                near = nearest(name, names)
                remedy = f"it has {', '.join(names)}" if near is None else f"did you mean {near}?"
                raise BadInput(f"{title} has no {name!r}", remedy)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise BadInput(f"{title}: {error}", f"see help({title})") from None
        if not hints:
            hints.update(get_type_hints(function))
        for name, value in bound.arguments.items():
            if isinstance(value, list) and get_origin(hints.get(name)) is tuple:
                bound.arguments[name] = tuple(value)
            elif name in hints and not _is_of(value, hints[name]):
                annotation = signature.parameters[name].annotation
                raise BadInput(f"{title}: {name} is {value!r}", f"give it as {annotation}")
        try:
            return function(*bound.args, **bound.kwargs)
        except SitebenchError as error:
            error.message = _with_parameters(error.message, signature.parameters)
            error.remedy = _with_parameters(error.remedy, signature.parameters)
            raise

    return call


def _with_parameters(text: str, parameters: Container[str]) -> str:
    """Replace options in a message by parameters: `--measure` by `measure_s`."""

    def parameter(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        names = (name, f"{name}_s", name.removesuffix("_file"))
        return next((name for name in names if name in parameters), option[0])

    return _OPTION.sub(parameter, text)


def _is_of(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return any(_is_of(value, part) for part in parts)
    if kind is Literal:
        return value in parts
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and not isinstance(value, bool)
    if kind is tuple and isinstance(value, tuple):
        return all(_is_of(item, parts[0]) for item in value)
    if kind is Mapping and isinstance(value, Mapping):
        return all(_is_of(item, parts[1]) for item in value.values())
    return isinstance(value, kind)
