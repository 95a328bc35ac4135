"""Check of the controls that a scenario needs."""

from __future__ import annotations

from collections.abc import Sequence

from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput
from sitebench.scenario.script import Script


def assure_controls(target: OpenDirectory, programs: Sequence[Script]) -> None:
    """Raise if a scenario needs a control that the directory does not list.

    A directory without such a list decides at each request: an unknown critical control is an error
    of the operation (RFC 4511 4.1.11).
    """
    needed = [(script, control) for script in programs for control in script.needed]
    if not needed:
        return
    import ldap3

    from ils_bench.targets.probe import connect

    with connect(target.address, target.who, target.trust, brief=True) as connection:
        connection.search("", "(objectClass=*)", ldap3.BASE, attributes=["supportedControl"])
        attributes = connection.response[0]["raw_attributes"] if connection.response else {}
    oids = {oid.decode(errors="replace") for oid in attributes.get("supportedControl", ())}
    for script, control in needed:
        if oids and control.oid not in oids:
            name = f"{control.name}" + f" ({control.oid})" * (control.name != control.oid)
            raise BadInput(
                f"{script.path}:{control.line}: {name} is no control of {target.address}",
                "leave it out, or name a directory whose root DSE lists it",
            )
