"""Errors of the native engine as errors of our tree, each with its remedy."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from sitebench import errors
from sitebench._engine import EngineError
from sitebench.errors import BadInput, SitebenchError

_KINDS: tuple[tuple[str, type[SitebenchError], str], ...] = (
    (r"address (already )?in use|port .* in use", errors.PortInUse, "choose another port"),
    (r"too many open files|descriptors", errors.OutOfDescriptors, "raise `ulimit -n`"),
    (r"\bline \d+", errors.BadFile, "correct that line"),
    (r"no such file", errors.BadFile, "check the name"),
    (r"invalidcredentials", errors.WrongPassword, "check the DN and the password"),
    (r"refused|unreachable|timed out", errors.TargetUnreachable, "check host and port"),
)


def translate(error: EngineError) -> SitebenchError:
    """Return the error of our tree that says the same.

    The engine writes `what happened; what to do` in one text.
    """
    said = str(error)
    message, _, advice = said.partition("; ")
    for pattern, kind, remedy in _KINDS:
        if re.search(pattern, said, re.IGNORECASE):
            return kind(message, advice or remedy)
    return BadInput(message, advice or "check what was asked for; if it is right, report this")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the engine's errors within into ours."""
    try:
        yield
    except EngineError as error:
        raise translate(error) from error
