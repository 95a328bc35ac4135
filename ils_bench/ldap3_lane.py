"""`--client ldap3`: runs scenarios with the Python library ldap3, to compare the engine with it.

The engine builds requests and judges answers; ldap3 only sends and receives. ldap3 needs dozens of
times the engine's CPU, so the load generator limits the rate sooner, which the verdict says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from ils_bench.options import IlsOptions
from ils_bench.targets.identity import Identity
from ils_bench.targets.probe import open_connection, server_of
from ils_bench.targets.reading import AnswerLimits, LateError, NonsenseError, limited_connection
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import LdapRequest, PortableUsers, Step, Steps
from sitebench.locust.portable import (
    Ended,
    PortableLane,
    PortableLanes,
    refuse_what_only_native_does,
    timeout_after,
)
from sitebench.targets.deadline import connecting_s
from sitebench.targets.tls import fault_kind

_SCOPES = ("BASE", "LEVEL", "SUBTREE", "SUBORDINATES")
_DEREFERENCES = ("NEVER", "SEARCH", "FINDING_BASE", "ALWAYS")
_MOST_ANSWER_BYTES = 16 << 20
"""Largest answer, equal to `MESSAGE_BYTES` of `native/tester/load/src/ldap/receive.rs`. ldap3 needs
ten times as much memory to decode the answer.
"""
_MOST_ANSWER_MESSAGES = 100_000
_CHANGES = ("MODIFY_ADD", "MODIFY_DELETE", "MODIFY_REPLACE", "MODIFY_INCREMENT")


class Ldap3Lanes(PortableLanes):
    def __init__(
        self, environment: Any, target: OpenDirectory, users: PortableUsers, *, options: IlsOptions
    ) -> None:
        refuse_what_only_native_does("ldap3", options, resume=target.trust.resume)
        super().__init__(environment, users)
        self.target = target
        self.timeout_s = options.timeout
        self.limits = AnswerLimits(
            options.timeout, options.timeout, _MOST_ANSWER_BYTES, _MOST_ANSWER_MESSAGES
        )
        self.server = server_of(target.address, target.trust, connecting_s(options.timeout))

    def lane(self, program: str) -> _Ldap3Lane:
        return _Ldap3Lane(self, self.users.steps(program))


class _Ldap3Lane(PortableLane):
    def __init__(self, lanes: Ldap3Lanes, steps: Steps) -> None:
        super().__init__(lanes, steps)
        self._lanes = lanes
        self._connections: dict[int, Any] = {}

    def hang_up(self, connection: int) -> None:
        from ldap3.core.exceptions import LDAPException

        open_one = self._connections.pop(connection, None)
        if open_one is not None:
            try:
                open_one.unbind()
            except (LDAPException, OSError):
                return

    def hang_up_all(self) -> None:
        for connection in list(self._connections):
            self.hang_up(connection)

    def ask(self, step: Step) -> Ended:
        if step.ldap is None:
            new = self._connections[step.connection] = self._new()
            return self._time(new, lambda: open_connection(new, self._lanes.target.address), None)
        connection, request = self._connections[step.connection], step.ldap
        return self._time(connection, lambda: _send(connection, request), request)

    def _new(self) -> Any:
        return limited_connection(
            self._lanes.server, self._lanes.limits, collect_usage=True, auto_encode=False
        )

    def _time(
        self, connection: Any, act: Callable[[], object], request: LdapRequest | None
    ) -> Ended:
        from ldap3.core.exceptions import LDAPException

        usage = connection.usage
        counters = usage.bytes_transmitted, usage.bytes_received
        kind: str | None = None
        answered, entry_count = True, None
        self.clock.begin()
        try:
            with timeout_after(self._lanes.timeout_s):
                act()
            self.clock.note_answer()
        except (LDAPException, NonsenseError, OSError) as error:
            self.clock.note_answer()
            kind, answered = _kind(error), False
            entry_count = self.steps.lost(kind)
        else:
            if request is not None:
                kind, answered, entry_count = self._judge(connection)
        traffic = (
            max(0, usage.bytes_transmitted - counters[0]),
            max(0, usage.bytes_received - counters[1]),
        )
        return replace(self.clock.end(kind, answered=answered, traffic=traffic), shown=entry_count)

    def _judge(self, connection: Any) -> tuple[str | None, bool, str | None]:
        result = connection.result
        entries = [
            (entry["dn"], [(k, list(values)) for k, values in entry["raw_attributes"].items()])
            for entry in connection.response or ()
            if entry["type"] == "searchResEntry"
        ]
        return self.steps.answered_ldap(
            result["result"], result["message"] or "", entries, result.get("responseValue") or None
        )


def _send(connection: Any, request: LdapRequest) -> None:
    import ldap3

    controls = request.controls or None
    if request.verb == "bind":
        connection.version = request.version
        for name, value in _credentials(request).items():
            setattr(connection, name, value)
        connection.bind(read_server_info=False, controls=controls)
    elif request.verb == "search":
        connection.search(
            request.dn,
            request.filter,
            _SCOPES[request.scope],
            dereference_aliases=_DEREFERENCES[request.dereference],
            attributes=request.attributes or ldap3.ALL_ATTRIBUTES,
            size_limit=request.size_limit,
            time_limit=request.time_limit_s,
            types_only=request.types_only,
            controls=controls,
        )
    elif request.verb == "compare":
        [(attribute, [value])] = request.entry
        connection.compare(request.dn, attribute, value, controls=controls)
    elif request.verb == "add":
        connection.add(request.dn, attributes=dict(request.entry), controls=controls)
    elif request.verb == "modify":
        changes: dict[str, list[tuple[str, list[bytes]]]] = {}
        for change, (attribute, values) in request.changes:
            changes.setdefault(attribute, []).append((_CHANGES[change], values))
        connection.modify(request.dn, changes, controls=controls)
    elif request.verb == "modify_dn":
        connection.modify_dn(
            request.dn,
            request.new_rdn,
            delete_old_dn=request.delete_old_rdn,
            new_superior=request.new_superior,
            controls=controls,
        )
    elif request.verb == "delete":
        connection.delete(request.dn, controls=controls)
    else:
        connection.extended(request.dn, request.value, controls=controls)


def _credentials(request: LdapRequest) -> dict[str, Any]:
    import ldap3

    value = (request.value or b"").decode()
    if request.sasl is None:
        method = ldap3.SIMPLE if request.dn else ldap3.ANONYMOUS
        return {"authentication": method, "user": request.dn or None, "password": value or None}
    _, _, identity = value.partition("\0")
    name, _, password = identity.partition("\0")
    return Identity(name, password, request.sasl.lower()).to_ldap3()


def _kind(error: Exception) -> str:
    """Return the engine's name for the kind of failure that an exception of ldap3 reports."""
    if (fault := fault_kind(error)) is not None:
        return fault
    name, text = type(error).__name__, str(error).lower()
    if isinstance(error, LateError) or "timed out" in text or "timeout" in name.lower():
        return "timeout"
    if name == "LDAPSocketOpenError":
        return "connect-refused" if "refused" in text else "connect-timeout"
    if "reset" in text:
        return "reset"
    if name in ("LDAPSessionTerminatedByServerError", "LDAPSocketReceiveError"):
        return "closed"
    return "closed" if isinstance(error, OSError) or "Socket" in name else "malformed"
