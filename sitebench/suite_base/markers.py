"""Markers that give a fixture its arguments: what the suites' pytest plugins share."""

from __future__ import annotations

from typing import Any

import pytest


def marked(request: pytest.FixtureRequest, name: str) -> dict[str, Any]:
    """Return the arguments that the test's markers give; the nearest marker wins."""
    arguments: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers(name))):
        if marker.args:
            raise pytest.UsageError(f"@pytest.mark.{name} takes keyword arguments only")
        arguments |= marker.kwargs
    return arguments
