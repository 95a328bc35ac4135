"""Errors of the native engine as errors of our tree, each with its remedy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sitebench import errors
from sitebench._engine import EngineError
from sitebench.errors import SitebenchError

_REMEDIES = {
    "BadFile": "correct that file, or name another one",
    "BadInput": "check what was asked for; if it is right, report this",
    "OutOfDescriptors": "raise `ulimit -n`",
    "PortInUse": "choose another port",
}
"""For what the engine says without a remedy."""


def translate(error: EngineError) -> SitebenchError:
    """Return the error of our tree that says the same.

    The engine writes `what happened; what to do` in one text. What happened may be in a server's
    words, with semicolons of its own; what to do comes last.
    """
    message, _, advice = str(error).rpartition("; ")
    if not message:
        message, advice = (
            advice,
            _REMEDIES.get(error.kind, "try again; if it stays so, report this"),
        )
    kind: type[SitebenchError] = getattr(errors, error.kind)
    return kind(message, advice)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the engine's errors within into ours."""
    try:
        yield
    except EngineError as error:
        raise translate(error) from error
