"""Arguments of fixtures in markers, for the pytest plugins of suites."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import pytest

from sitebench.errors import BadInput
from sitebench.options.spelling import nearest

_T = TypeVar("_T")
_TYPING_ERROR = 0.9
"""Similarity of names that differ by one or two letters."""


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


@contextlib.contextmanager
def factory(server: Callable[..., AbstractContextManager[_T]]) -> Iterator[Callable[..., _T]]:
    """Yield a function that starts servers; all stop at the end."""
    with contextlib.ExitStack() as running:
        yield lambda *args, **kwargs: running.enter_context(server(*args, **kwargs))
