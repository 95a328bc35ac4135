"""Arguments of fixtures in markers, for the pytest plugins of suites."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import Any, TypeVar

import pytest

from sitebench.errors import BadInput
from sitebench.options.spelling import nearest

_T = TypeVar("_T")
_TYPING_ERROR = 0.9
"""Similarity of two names that differ in one or two letters."""


def call_marked(request: pytest.FixtureRequest, name: str, function: Callable[..., _T]) -> _T:
    """Call a function with the arguments of the test's markers; the innermost marker wins."""
    arguments: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers())):
        if marker.name != name:
            if nearest(marker.name, [name], _TYPING_ERROR) is not None:
                raise BadInput(f"unknown marker {marker.name!r}", f"did you mean {name}?")
        elif marker.args:
            raise pytest.UsageError(f"@pytest.mark.{name} takes keyword arguments only")
        else:
            arguments |= marker.kwargs
    return function(**arguments)


def fixtures_of(server: str, name: str, noun: str) -> tuple[Any, Any]:
    """Return two fixtures: `name` gives a test a server, and `name`_factory starts servers."""

    def one(request: pytest.FixtureRequest) -> Iterator[Any]:
        with call_marked(request, name, resolve_name(server)) as running:
            yield running

    def factory() -> Iterator[Callable[..., Any]]:
        with contextlib.ExitStack() as running:
            yield lambda *args, **more: running.enter_context(resolve_name(server)(*args, **more))

    one.__doc__ = f"Give the test a running {noun} of its own, with 1,000 people unless marked."
    factory.__doc__ = f"Give a function that starts a {noun}, which runs until the session ends."
    several = pytest.fixture(name=f"{name}_factory", scope="session")(factory)
    return pytest.fixture(name=name)(one), several
