"""Protection against lockout: a run sends an account of the user's at most two wrong passwords.

A run sends one wrong password per account on purpose, from one thread of one worker; a mistake in
the CSV file can add a second one. After a refused bind the row is not used again (`deal =
"exclusive"`), and the run ends. The run file records wrong passwords of earlier tries of the same
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ils_bench.options import ANY
from sitebench.counts.tally import Tally
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.runs.manifest import COMPARED, ONCE
from sitebench.runs.store import RunStore
from sitebench.scenario.script import Script

LIFT = f"--wrong-passwords {ANY}"
"""Option that ends the protection: wrong passwords may lock accounts."""

_SENT = "wrong_passwords"
"""Key in the run file: the largest possible number of wrong passwords sent to an account."""
_MOST = 2
_REFUSED = "result:invalidCredentials"
_TOO_MANY = "result:constraintViolation"
"""Result for too many wrong passwords (389-DS, draft-behera-ldap-password-policy)."""
_LOCKED = "data 775"
"""Diagnostic message of Active Directory for a locked account."""


class Binds(msgspec.Struct, frozen=True):
    rows: frozenset[tuple[str, str]]
    """Operation and step of each bind."""
    files: tuple[str, ...]
    wrong: bool
    """Whether wrong passwords are sent on purpose."""


def binds_of(programs: Sequence[Script]) -> Binds | None:
    """Return the binds with accounts of the user's files; None if there are none.

    Raise if an account could receive a second password before the answer to the first.
    """
    rows, files, wrong = set[tuple[str, str]](), dict[str, None](), False
    for script in programs:
        sources = {source["name"]: source for source in script.facts["data"]}
        for operation, step in _bind_steps(script):
            for name in step["accounts"]:
                _check_deal(script, f"{operation}, step {step['name']}", step, sources[name])
                files[sources[name]["file"] or name] = None
            rows.add((operation, step["name"]))
            wrong |= step["refused"]
    return Binds(frozenset(rows), tuple(files), wrong) if rows else None


def _bind_steps(script: Script) -> Iterator[tuple[str, Any]]:
    names = {operation.name for operation in script.operations}
    operations = [row for row in script.facts["operations"] if row["name"] in names]
    for operation in (*operations, {**script.facts["start"], "name": "start"}):
        for step in operation["steps"]:
            if step["accounts"]:
                yield operation["name"], step
        for connection in script.facts["connections"]:
            if accounts := connection["accounts"]:
                for name in (f"{connection['name']}: bind", "bind"):
                    yield operation["name"], {"name": name, "accounts": accounts, "refused": False}


def _check_deal(script: Script, place: str, step: Any, source: Any) -> None:
    deals = ("once",) if step["refused"] else ("exclusive", "once")
    if source["deal"] in deals:
        return
    kind = "wrong" if step["refused"] else "stale"
    raise BadInput(
        f"{script.path}: {place}: {kind} passwords of {source['name']} could be sent many times, "
        "and lock accounts",
        f'write deal = "{deals[0]}" in its [data.{source["name"]}]; or, if you may lock them, add '
        f"{LIFT}",
    )


class Care:
    """Counts wrong passwords of one point, or of one test in Locust."""

    def __init__(self, binds: Binds, store: RunStore | None) -> None:
        self._rows, self._wrong, self._store = binds.rows, binds.wrong, store
        self._files = " or ".join(binds.files)

    def begin(self) -> None:
        """Raise if an account would receive too many wrong passwords in this run."""
        sent = self._facts().get(_SENT, 0)
        # Each run of a comparison would use the same accounts.
        repeats_wrong = self._wrong > 0 and COMPARED in self._facts()
        if repeats_wrong or sent + 1 + self._wrong > _MOST:
            raise BadInput(
                "this run has sent wrong passwords to these accounts, and more could lock them"
                if not repeats_wrong
                else "each measurement would send wrong passwords to the same accounts",
                f"measure once, without repeats; or, if you may lock them, add {LIFT}",
            )
        if self._wrong:
            self._note(sent + 1)
            if self._store is not None:
                self._store.set_manifest(
                    {ONCE: f"more wrong passwords could lock accounts ({LIFT})"}
                )

    def watch(self, tallies: Iterable[Tally]) -> None:
        """Raise at the first answer that possibly means a locked account."""
        for kind, example, many in _refusals(tallies, self._rows):
            self.note_refusal()
            if kind == _REFUSED and _LOCKED not in example:
                event, may = "a password was refused", " or the account is locked" * self._wrong
                remedy = f"{self._files} has another password{may}: correct it, or remove the line"
            else:
                event = "an account is locked"
                remedy = "have it unlocked, and send no wrong passwords"
            raise MeasurementFailed(
                f"{event}, so the run has ended ({many:,} of them): {example}",
                f"{remedy}; or, if you may lock accounts, add {LIFT}",
            )

    def note_refusal(self) -> None:
        self._note(self._facts().get(_SENT, 0) + 1)

    def _facts(self) -> dict[str, Any]:
        return {} if self._store is None else self._store.manifest()

    def _note(self, sent: int) -> None:
        if self._store is not None:
            self._store.set_manifest({_SENT: sent})


def _refusals(
    tallies: Iterable[Tally], rows: frozenset[tuple[str, str]]
) -> Iterator[tuple[str, str, int]]:
    for tally in tallies:
        for (row, step), totals in tally.steps.items():
            if (row, step) not in rows:
                continue
            for kind, example in totals.examples.items():
                if kind in (_REFUSED, _TOO_MANY):
                    yield kind, example, totals.failures[kind]
