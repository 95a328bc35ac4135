"""`--client ldap3`: the same sequences in Python, with ordinary Locust request events.

The portable client: an independent implementation to compare the engine with. It costs dozens of
times the engine's CPU, most of it ldap3's decoding, so the tester is the bottleneck far sooner; the
verdict says so.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Many
from typing import Any

from ils_bench import sequences as steps
from ils_bench.engine_config import placed
from ils_bench.options import IlsOptions
from ils_bench.sequences import Sequence, Step
from ils_bench.targets.identity import Identity
from ils_bench.targets.names import names_of
from ils_bench.targets.probe import opened, server_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput
from sitebench.locust.portable import (
    BrokenPass,
    PassLane,
    PortableLanes,
    refuse_what_only_native_does,
    within,
)
from sitebench.targets.deadline import connecting_s
from sitebench.targets.tls import fault_kind

_SUCCESS, _SIZE_LIMIT_EXCEEDED, _COMPARE_TRUE = 0, 4, 6
_NOT_CONNECTED = "closed"
_REFRESH = "1.3.6.1.4.1.1466.101.119.1"


class _FailedError(Exception):
    """A step failed, with the kind it is counted under."""


class Ldap3Lanes(PortableLanes):
    """All portable lanes of a process, and what they recorded."""

    def __init__(
        self,
        environment: Any,
        target: OpenDirectory,
        population: Population,
        sequences: Iterable[Sequence],
        *,
        options: IlsOptions,
        slot: WorkerSlot,
        first_added: int,
    ) -> None:
        refuse_what_only_native_does("ldap3", options, resume=target.trust.resume)
        if options.keys != "uniform":
            raise BadInput(
                "--client ldap3 knows uniform keys only",
                "leave out --keys, or use the native client",
            )
        super().__init__(environment)
        self.target = target
        self.population = population
        self.options = options
        self.names = None if options.names is None else names_of(options.names)
        self._sequences = {each.name: placed(each, options.base, target.who) for each in sequences}
        self.server = server_of(target.address, target.trust, connecting_s(options.timeout))
        self._made = itertools.count(slot.index, slot.count)
        self._added = itertools.count()
        self._first_added = first_added

    def lane(self, program: str) -> _Ldap3Lane:
        return _Ldap3Lane(self, self._sequences[program], self.options.seed + next(self._made))

    def next_new(self) -> tuple[int, bool]:
        """Return the next person to add, and whether that one was added before."""
        n = next(self._added)
        return self._first_added + n % self.options.ring, n >= self.options.ring


class _Ldap3Lane(PassLane):
    """One connection that repeats one sequence."""

    def __init__(self, lanes: Ldap3Lanes, sequence: Sequence, seed: int) -> None:
        super().__init__(lanes, sequence.name)
        self._lanes = lanes
        self._sequence = sequence
        self._random = random.Random(seed)
        self._connection: Any = None
        self._current: int | None = None
        self._own: int | None = None
        self._do: dict[type[Step], Callable[[Any], None]] = {
            steps.Connect: self._connect,
            steps.Bind: self._bind,
            steps.Unbind: self._unbind,
            steps.Lookup: self._lookup,
            steps.Add: self._add,
            steps.Delete: self._delete,
            steps.Modify: self._modify,
            steps.Refresh: self._refresh,
            steps.Compare: self._compare,
            steps.Retrieve: self._retrieve,
            steps.Search: self._search,
        }

    def work(self) -> None:
        self._run(self._sequence.steps)

    def hang_up(self) -> None:
        from ldap3.core.exceptions import LDAPException

        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.strategy.close()
            except (LDAPException, OSError):
                return

    def _run(self, todo: tuple[Step, ...]) -> None:
        for step in todo:
            if isinstance(step, steps.Repeat):
                for _ in range(step.times):
                    self._run(step.steps)
            elif isinstance(step, steps.Think):
                self._think(step)
            else:
                if isinstance(step, steps.Add):
                    self._choose_new_person(step)
                self._timed(step, step.label)

    def _think(self, step: steps.Think) -> None:
        mean_s = step.mean_ms / 1e3
        constant = step.distribution == "constant"
        self.clock.rest(mean_s if constant else self._random.expovariate(1 / mean_s))

    def _timed(self, step: Step, label: str) -> None:
        """Run one step and record it; only what breaks the connection breaks the pass."""
        from ldap3.core.exceptions import LDAPException

        before, kind, broken, answered = self._traffic(), None, False, True
        self.clock.begin()
        try:
            with within(self._lanes.options.timeout):
                self._do[type(step)](step)
        except _FailedError as failure:
            kind = str(failure)
            broken = isinstance(step, steps.Connect | steps.Bind)
            answered = kind != _NOT_CONNECTED
        except (LDAPException, OSError) as error:
            kind, broken, answered = _kind(error), True, False
        after = self._traffic()
        traffic = (max(0, after[0] - before[0]), max(0, after[1] - before[1]))
        ended = self.clock.end(kind, answered=answered, traffic=traffic)
        self._lanes.record(self._sequence.name, label, ended)
        if broken:
            raise BrokenPass(kind)

    def _traffic(self) -> tuple[int, int]:
        if self._connection is None:
            return 0, 0
        usage = self._connection.usage
        return usage.bytes_transmitted, usage.bytes_received

    # People.

    def _person(self, who: str) -> int:
        known = {"random": None, "own": self._own}.get(who, self._current)
        if known is None:
            known = self._random.randrange(self._lanes.options.entries)
        self._current = known
        if who == "own":
            self._own = known
        return known

    def _dn(self, i: int) -> str:
        names = self._lanes.names
        if names is None:
            return self._lanes.population.dn(i)
        return f"{names.rdn(i)},{self._lanes.options.base}"

    def _filter(self, i: int, more: str = "") -> str:
        from ldap3.utils.conv import escape_filter_chars

        names = self._lanes.names
        if names is not None:
            return f"({names.condition(i)})"
        name = escape_filter_chars(self._lanes.population.name(i))
        return f"(&(objectClass=RTPerson)(cn={name}){more})"

    # Steps.

    def _connect(self, step: steps.Connect) -> None:
        import ldap3

        self.hang_up()
        timeout = self._lanes.options.timeout
        self._connection = ldap3.Connection(
            self._lanes.server,
            # Whole seconds: ldap3 gives them to the kernel as they are.
            receive_timeout=max(1, math.ceil(timeout)),
            check_names=False,
            collect_usage=True,
            auto_encode=False,
        )
        opened(self._connection, self._lanes.target.address)

    def _bind(self, step: steps.Bind) -> None:
        import ldap3

        connection = self._connected()
        connection.version = step.version
        connection.authentication = ldap3.SIMPLE if step.dn else ldap3.ANONYMOUS
        who = Identity(step.dn or None, step.password or None, step.sasl)
        for name, value in who.to_ldap3().items():
            setattr(connection, name, value)
        connection.bind(read_server_info=False)
        self._expect()

    def _unbind(self, step: steps.Unbind) -> None:
        connection, self._connection = self._connected(), None
        connection.unbind()

    def _lookup(self, step: steps.Lookup) -> None:
        i = self._person(step.person)
        more = "" if step.refresh_minutes is None else f"(sttl={step.refresh_minutes})"
        found = self._find(self._lanes.options.base, self._filter(i, more), step.attributes)
        if len(found) != 1:
            raise _FailedError("wrong-answer")
        options = self._lanes.options
        if options.verify and options.names is None and not more:
            _verify(found[0], self._lanes.population.entry(i), step.attributes)

    def _find(
        self,
        base: str,
        filter_: str,
        attributes: Many[str],
        *,
        scope: str = "sub",
        size_limit: int = 0,
        accepted: tuple[int, ...] = (_SUCCESS,),
    ) -> list[dict[str, Any]]:
        import ldap3

        scopes = {"base": ldap3.BASE, "one": ldap3.LEVEL, "sub": ldap3.SUBTREE}
        wanted = list(attributes) or ldap3.ALL_ATTRIBUTES
        connection = self._connected()
        connection.search(base, filter_, scopes[scope], attributes=wanted, size_limit=size_limit)
        self._expect(*accepted)
        return [each for each in connection.response if each["type"] == "searchResEntry"]

    def _choose_new_person(self, step: steps.Add) -> None:
        """Choose the next person to add; remove it first, timed by itself, if added before."""
        if step.person == "new":
            self._current, used_before = self._lanes.next_new()
            if used_before:
                self._timed(_REMOVE, "remove")

    def _add(self, step: steps.Add) -> None:
        connection = self._connected()
        dn, attributes = self._lanes.population.entry(self._person("current"))
        connection.add(dn, attributes=attributes)
        self._expect()

    def _delete(self, step: steps.Delete) -> None:
        self._connected().delete(self._dn(self._person(step.person)))
        self._expect()

    def _modify(self, step: steps.Modify) -> None:
        import ldap3

        kinds = {
            "add": ldap3.MODIFY_ADD,
            "delete": ldap3.MODIFY_DELETE,
            "replace": ldap3.MODIFY_REPLACE,
            "increment": ldap3.MODIFY_INCREMENT,
        }
        changes: dict[str, list[tuple[str, list[str]]]] = {}
        for change in step.changes:
            made = (kinds[change.op], list(change.values))
            changes.setdefault(change.attribute, []).append(made)
        self._connected().modify(self._dn(self._person(step.person)), changes)
        self._expect()

    def _refresh(self, step: steps.Refresh) -> None:
        from ldap3.protocol.rfc4511 import LDAPDN
        from pyasn1.type import namedtype, tag, univ

        name: Any = LDAPDN()
        seconds: Any = univ.Integer()

        class RefreshRequest(univ.Sequence):
            """entryName [0], requestTtl [1] (RFC 2589, 4.1)."""

            componentType = namedtype.NamedTypes(  # noqa: N815
                namedtype.NamedType("entryName", name.subtype(implicitTag=tag.Tag(128, 0, 0))),
                namedtype.NamedType("requestTtl", seconds.subtype(implicitTag=tag.Tag(128, 0, 1))),
            )

        request = RefreshRequest()
        request["entryName"] = self._dn(self._person(step.person))
        request["requestTtl"] = step.ttl_s
        self._connected().extended(_REFRESH, request)
        self._expect()

    def _compare(self, step: steps.Compare) -> None:
        i = self._person(step.person)
        _, attributes = self._lanes.population.entry(i)
        values = {name.lower(): value for name, value in attributes.items()}
        self._connected().compare(self._dn(i), step.attribute, values[step.attribute.lower()][0])
        self._expect(_COMPARE_TRUE)

    def _retrieve(self, step: steps.Retrieve) -> None:
        self._find(
            self._lanes.options.base,
            "(objectClass=*)" if self._lanes.options.names else "(objectClass=RTPerson)",
            step.attributes,
            size_limit=step.size_limit,
            accepted=(_SUCCESS, _SIZE_LIMIT_EXCEEDED),
        )

    def _search(self, step: steps.Search) -> None:
        found = self._find(step.base, step.filter, step.attributes, scope=step.scope)
        if step.expect_entries is not None and len(found) != step.expect_entries:
            raise _FailedError("wrong-answer")

    def _connected(self) -> Any:
        if self._connection is None:
            raise _FailedError(_NOT_CONNECTED)
        return self._connection

    def _expect(self, *accepted: int) -> None:
        self.clock.answered()
        result = self._connection.result
        if result["result"] not in (accepted or (_SUCCESS,)):
            raise _FailedError(f"result:{result['description']}")


_REMOVE = steps.Delete(name="remove")


def _verify(
    found: dict[str, Any], expected: tuple[str, dict[str, list[bytes]]], wanted: tuple[str, ...]
) -> None:
    """Check that an answer is the person asked for: every attribute, every value, nothing else."""
    asked = {name.lower() for name in wanted}
    mine = {
        name.lower(): sorted(values)
        for name, values in expected[1].items()
        if not asked or name.lower() in asked
    }
    theirs = {name.lower(): sorted(values) for name, values in found["raw_attributes"].items()}
    if mine != theirs:
        raise _FailedError("wrong-answer")


def _kind(error: Exception) -> str:
    """Return the engine's name for what ldap3 raised."""
    if (fault := fault_kind(error)) is not None:
        return fault
    name, text = type(error).__name__, str(error).lower()
    if "timed out" in text or "timeout" in name.lower():
        return "timeout"
    if name == "LDAPSocketOpenError":
        return "connect-refused" if "refused" in text else "connect-timeout"
    if "reset" in text:
        return "reset"
    if name in ("LDAPSessionTerminatedByServerError", "LDAPSocketReceiveError"):
        return "closed"
    return "closed" if isinstance(error, OSError) or "Socket" in name else "malformed"
