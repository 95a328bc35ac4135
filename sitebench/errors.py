"""Errors that a user can fix: `BadInput`, `ObjectiveMissed`, `NotDecided`, `MeasurementFailed`.

Each of these four has an exit code of its own; the other errors inherit from them. The command line
prints `sitebench: message`, and the remedy on the next line.
"""

# ruff: noqa: N818 -- the names say what happened, as StopIteration does

from __future__ import annotations

import re
import sys
from typing import NoReturn

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_MISSED = 3
EXIT_NOT_DECIDED = 4
EXIT_INTERRUPTED = 130


_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys or cannot show: control characters (C0, C1), line separators,
marks of text direction, and surrogates."""
_MOST = 1_000


def printable(text: str, limit: int = _MOST) -> str:
    """Return a text as one line without characters that a terminal obeys."""
    if len(text) > limit:
        text = f"{text[:limit]}..."
    return _NOT_SHOWN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class SitebenchError(Exception):
    """A message that names what is wrong and where, and its remedy."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str, remedy: str) -> None:
        self.message = printable(message)
        self.remedy = printable(remedy, 10 * _MOST)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


def exit_with(error: SitebenchError) -> NoReturn:
    """Print an error's message and, on the next line, its remedy; exit with its code."""
    print(f"sitebench: {error.message}\n  {error.remedy}", file=sys.stderr)
    sys.exit(error.exit_code)


class BadInput(SitebenchError):
    """The command cannot be run as given."""

    exit_code = EXIT_BAD_INPUT


class UnknownValue(BadInput):
    """A text that is not a size, duration, rate or known choice."""


class BadFile(BadInput):
    """An input file with an error in it."""


class WrongPassword(BadInput):
    """The target refuses the credentials."""


class NotYours(BadInput):
    """A write to a target that sitebench did not start, without --i-own-this-target."""


class PortInUse(BadInput):
    """Another program listens on the port."""


class ProgramMissing(BadInput):
    """A required program is not installed."""


class NotPossible(BadInput):
    """This machine, or this user on it, does not allow the request."""


class BadRunFile(BadInput):
    """The file is not a run file, or is a run file from a newer version."""


class OtherBuild(BadInput):
    """A master and a worker that are not the same build."""


class ObjectiveMissed(SitebenchError):
    """The measurement misses the objective."""

    exit_code = EXIT_MISSED


class NotDecided(SitebenchError):
    """The measurements do not answer the question."""

    exit_code = EXIT_NOT_DECIDED


class MeasurementFailed(SitebenchError):
    """A measurement started and failed."""


class TargetUnreachable(MeasurementFailed):
    """No answer at the target's address."""


class TargetTalksNonsense(MeasurementFailed):
    """An answer in another protocol at the target's address."""


class TlsFailed(MeasurementFailed):
    """No trusted TLS connection to the target."""


class TargetDied(MeasurementFailed):
    """The target stopped during the measurement."""


class OutOfPorts(MeasurementFailed):
    """No local port is left for another connection."""


class OutOfDescriptors(MeasurementFailed):
    """This process has no file descriptor left."""


class Leak(MeasurementFailed):
    """The target showed a person another person's data."""


class CannotRecord(MeasurementFailed):
    """The run file cannot be written."""


class WorkersMissing(MeasurementFailed):
    """Fewer workers connected than the test needs."""


class BadMessage(MeasurementFailed):
    """A message of a worker, or of a master, that this build does not send."""


class PointFailed(MeasurementFailed):
    """The Locust process of a point failed."""
