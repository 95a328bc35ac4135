"""One operation on two servers, and the permitted differences of their answers."""

import itertools
from dataclasses import dataclass
from typing import Any

from tests.conformance.random_operations import Answer, Operation, Rename

_numbers = itertools.count(1)

# An operation may have two faults, and RFC 4511 does not order them. The first code of each pair is
# the embedded directory's, which checks the entry before the change; the second is slapd's, which
# checks in the opposite order.
EITHER_FAULT = {
    ("attributeOrValueExists", "constraintViolation"),
    ("entryAlreadyExists", "attributeOrValueExists"),
    ("entryAlreadyExists", "constraintViolation"),
    ("noSuchAttribute", "attributeOrValueExists"),
    ("noSuchAttribute", "constraintViolation"),
    ("noSuchObject", "attributeOrValueExists"),
    ("noSuchObject", "constraintViolation"),
    ("noSuchObject", "unwillingToPerform"),
}


def same(operation: Operation, embedded: Answer, openldap: Answer) -> bool:
    """Whether a client sees equal answers, apart from the permitted differences."""
    if embedded == openldap or (embedded[0], openldap[0]) in EITHER_FAULT:
        return True
    # If the parent is missing too, slapd does not return the closest existing ancestor (RFC 4511
    # 4.1.9).
    unsaid = openldap[:2] == ("noSuchObject", "")
    return isinstance(operation, Rename) and embedded[0] == "noSuchObject" and unsaid


@dataclass(frozen=True)
class Pair:
    """A connection to each server, and a container of the same name on both."""

    connections: dict[str, Any]

    def new_container(self) -> str:
        name = f"pair-{next(_numbers)}"
        dn = f"ou={name},ou=Scratch,o=Intranet"
        for connection in self.connections.values():
            assert connection.add(dn, ["organizationalUnit"], {"ou": name}), connection.result
        return dn

    def apply(self, operation: Operation, base: str) -> dict[str, Answer]:
        return {
            kind: operation.apply(connection, base) for kind, connection in self.connections.items()
        }

    def agree(self, operation: Operation, base: str) -> None:
        """Apply `operation` to both servers; the answers to the client must be equal."""
        answers = self.apply(operation, base)
        assert same(operation, answers["embedded"], answers["openldap"]), (operation, answers)
