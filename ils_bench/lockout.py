"""Accounts of others must not be locked: at most two wrong passwords each in a run.

One is that of --wrong: its rows come once, divided among threads and workers. The other one may be
in the file itself: the row of a refused bind is not dealt again (`deal = "exclusive"`), and the run
ends at the first. What an earlier try of the same run may have sent stands in its run file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ils_bench.logins import LOGIN, WRONG
from sitebench.counts.tally import Tally
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.runs.manifest import COMPARED, ONCE
from sitebench.runs.store import RunStore
from sitebench.targets.ownership import FLAG

_SENT = "wrong_passwords"
"""Of the run file's facts: how many an account may have been sent."""
_MOST = 2
_REFUSED = "result:invalidCredentials"
_TOO_MANY = "result:constraintViolation"
"""389-DS's "Exceed password retry limit", and draft-behera-ldap-password-policy's name for more."""
_LOCKED = "data 775"
"""Active Directory's diagnostic of a locked account."""


class Care:
    """The wrong passwords of one point, or of one test in Locust."""

    def __init__(self, file: str, *, wrong: bool, store: RunStore | None) -> None:
        self._file, self._wrong, self._store = file, wrong, store

    def begin(self) -> None:
        """Raise where the run would send an account more than it may."""
        sent = self._sent()
        # Pairs that are compared would send them to the same accounts again.
        pairs = self._wrong and COMPARED in self._facts()
        if pairs or sent + 1 + self._wrong > _MOST:
            raise BadInput(
                "this run has sent wrong passwords to these accounts, and more could lock them"
                if not pairs
                else "each measurement would send wrong passwords to the same accounts",
                f"measure once, without repeats; or, if you may lock them, add {FLAG}",
            )
        if self._wrong:
            self._note(sent + 1)
            if self._store is not None:
                self._store.set_manifest(
                    {ONCE: f"more wrong passwords could lock accounts ({FLAG})"}
                )

    def watch(self, tallies: Iterable[Tally]) -> None:
        """Raise at the first answer that may be that of a locked account."""
        for kind, example, many in _refusals(tallies):
            self.refused()
            if kind == _REFUSED and _LOCKED not in example:
                what, may = "a password was refused", " or the account is locked" * self._wrong
                remedy = f"{self._file} has another password{may}: correct it, or remove the line"
            else:
                what, remedy = "an account is locked", "have it unlocked, and leave --wrong out"
            raise MeasurementFailed(
                f"{what}, so the run has ended ({many:,} of them): {example}",
                f"{remedy}; or, if you may lock accounts, add {FLAG}",
            )

    def refused(self) -> None:
        """Note that a password of the file was a wrong one."""
        self._note(self._sent() + 1)

    def _sent(self) -> int:
        """Return how many wrong passwords an account may have been sent in this run."""
        sent: int = self._facts().get(_SENT, 0)
        return sent

    def _facts(self) -> dict[str, Any]:
        return {} if self._store is None else self._store.manifest()

    def _note(self, sent: int) -> None:
        if self._store is not None:
            self._store.set_manifest({_SENT: sent})


def _refusals(tallies: Iterable[Tally]) -> Iterator[tuple[str, str, int]]:
    """Yield kinds of refusals with an example and their number."""
    for tally in tallies:
        for (row, step), totals in tally.steps.items():
            if step != "bind" or row not in (LOGIN, WRONG):
                continue
            for kind, example in totals.examples.items():
                if kind in (_REFUSED, _TOO_MANY):
                    yield kind, example, totals.failures[kind]
