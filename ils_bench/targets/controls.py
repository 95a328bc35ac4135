"""Controls that a scenario cannot do without, and those that a directory knows."""

from __future__ import annotations

from collections.abc import Sequence

from ils_bench.programs import Program
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput
from sitebench.scenario.script import Script


def assure_controls(target: OpenDirectory, programs: Sequence[Program]) -> None:
    """Raise where a scenario asks for a control that the directory does not list.

    One that lists none, or hides its root DSE, decides with each request: a critical control that
    it does not know is an error of the operation (RFC 4511 4.1.11).
    """
    needed = [
        (script, each)
        for script in programs
        if isinstance(script, Script)
        for each in script.needed
    ]
    if not needed:
        return
    import ldap3

    from ils_bench.targets.probe import connected

    with connected(target.address, target.who, target.trust, brief=True) as connection:
        connection.search("", "(objectClass=*)", ldap3.BASE, attributes=["supportedControl"])
        found = connection.response[0]["raw_attributes"] if connection.response else {}
    known = {oid.decode(errors="replace") for oid in found.get("supportedControl", ())}
    for script, each in needed:
        if known and each.oid not in known:
            what = "" if each.name == each.oid else f" ({each.oid})"
            raise BadInput(
                f"{script.path}:{each.line}: {each.name}{what} is no control of {target.address}",
                "leave it out, or name a directory whose root DSE lists it",
            )
