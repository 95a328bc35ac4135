"""Errors of the native engine as errors of sitebench, each with its remedy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sitebench import errors
from sitebench._engine import EngineError
from sitebench.errors import SitebenchError

_REMEDIES = {
    "BadFile": "correct that file, or name another one",
    "BadInput": "check the options; if they are right, report this error",
    "OutOfDescriptors": "raise `ulimit -n`",
    "PortInUse": "choose another port",
}
"""Remedies by kind of error, for messages without a remedy."""
_HINTS = {
    "Cannot assign requested address": "name an address of this machine, such as 127.0.0.1, or "
    "0.0.0.0 for all of them",
    ": people have ": "name one of these in the file; people log in with --profile person",
    "unknown field": "use one of the expected ones",
}
"""Remedies by words of a message, for messages without a remedy; tried before `_REMEDIES`."""


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise errors of the engine as errors of sitebench.

    The engine writes `message; remedy`. The remedy follows the last semicolon, because the message
    can quote semicolons of a server.
    """
    try:
        yield
    except EngineError as error:
        message, _, advice = str(error).rpartition("; ")
        if not message:
            message = advice
            advice = _REMEDIES.get(error.kind, "try again; if the error persists, report it")
            advice = next((hint for words, hint in _HINTS.items() if words in message), advice)
        kind: type[SitebenchError] = getattr(errors, error.kind)
        raise kind(message, advice) from error
