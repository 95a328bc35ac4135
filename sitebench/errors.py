"""Everything that can go wrong in a way a person can mend: one tree, each with its remedy.

    SitebenchError
    ├── BadInput                  exit code 2: what was asked for cannot be done as asked
    │   ├── UnknownValue          a size, duration, rate or choice that cannot be read
    │   ├── BadFile               an input file with an error, on which line
    │   ├── WrongPassword         the target refuses the credentials
    │   ├── NotYours              a write to a target that nobody said is theirs
    │   ├── PortInUse             something else listens there
    │   ├── BeyondMeasured        a load too far from any that was measured
    │   ├── ProgramMissing        a program that this needs is not installed
    │   └── BadRunFile            not a run file, or one from a newer version
    ├── ObjectiveMissed           exit code 3: it was measured, and does not meet the objective
    └── MeasurementFailed         exit code 1: it was started, and did not end well
        ├── TargetUnreachable     nothing answers there
        ├── TargetTalksNonsense   something answers, in another language
        ├── TlsFailed             it cannot be talked to in confidence
        ├── TargetDied            it was there and is gone
        ├── OutOfPorts            this machine has no local port left
        ├── OutOfDescriptors      this process may open no more files
        ├── Leak                  the target shows people what is another's
        ├── CannotRecord          the run file takes no more: a full disk, a lost permission
        ├── WorkersMissing        fewer workers came than were to make the load
        └── PointFailed           the Locust process of a point ended badly

The halves add leaves of their own (a wrong base DN means nothing to a web site). The command
line prints `sitebench: message` and the remedy on the next line, and nothing else.
"""

# ruff: noqa: N818 -- the names say what happened, as StopIteration's does

from __future__ import annotations

import sys
from typing import NoReturn

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_MISSED = 3
EXIT_INTERRUPTED = 130


class SitebenchError(Exception):
    """What happened, to what, and what to do about it."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


def leave(error: SitebenchError) -> NoReturn:
    """End this process with what happened, and on the next line what to do about it."""
    print(f"sitebench: {error.message}\n  {error.remedy}", file=sys.stderr)
    sys.exit(error.exit_code)


class BadInput(SitebenchError):
    """What was asked for cannot be done as asked."""

    exit_code = EXIT_BAD_INPUT


class UnknownValue(BadInput):
    """A text that is no size, duration, rate or known choice."""


class BadFile(BadInput):
    """An input file with an error in it."""


class WrongPassword(BadInput):
    """The target refuses the credentials."""


class NotYours(BadInput):
    """A write to another machine's target that nobody said is theirs."""


class PortInUse(BadInput):
    """Something else listens on the wanted port."""


class BeyondMeasured(BadInput):
    """A load too far from any that was measured."""


class ProgramMissing(BadInput):
    """A program that the target needs is not installed."""


class BadRunFile(BadInput):
    """The file is not a run file, or a newer version wrote it."""


class ObjectiveMissed(SitebenchError):
    """It was measured, and does not meet the objective."""

    exit_code = EXIT_MISSED


class MeasurementFailed(SitebenchError):
    """The measurement was started and did not end well."""


class TargetUnreachable(MeasurementFailed):
    """Nothing answers at the target's address."""


class TargetTalksNonsense(MeasurementFailed):
    """Something answers at the target's address, in another language."""


class TlsFailed(MeasurementFailed):
    """The target cannot be talked to in confidence."""


class TargetDied(MeasurementFailed):
    """The target was there and is gone."""


class OutOfPorts(MeasurementFailed):
    """This machine has no local port left for another connection."""


class OutOfDescriptors(MeasurementFailed):
    """This process may open no more files."""


class Leak(MeasurementFailed):
    """The target shows people what is another's."""


class CannotRecord(MeasurementFailed):
    """The run file takes no more."""


class WorkersMissing(MeasurementFailed):
    """Fewer workers came than were to make the load."""


class PointFailed(MeasurementFailed):
    """The Locust process of a point ended badly."""
