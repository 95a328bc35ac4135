"""RTPerson's schema for directories that are not ours, each in the format it loads.

`rtperson.schema` is the definition, as the engine has it (native/shared/people/schema); `python -m
ils_bench.schema` writes the other files from it, and a test holds them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
FILES = {"openldap": "rtperson.schema", "config": "rtperson.ldif", "389ds": "99rtperson.ldif"}
"""By the name they are asked for: OpenLDAP's slapd.conf and cn=config, and 389 Directory Server."""


def text(kind: str) -> str:
    return (FOLDER / FILES[kind]).read_text()


def rendered(kind: str) -> str:
    """Return what a file made from the definition should be."""
    make = {"config": _for_config, "389ds": _for_389ds}[kind]
    return make(text("openldap"))


def _definitions(schema: str) -> Iterator[tuple[str, str]]:
    """Yield the keyword and the text of each definition, on one line (RFC 4512, 4.1)."""
    lines = [line for line in schema.splitlines() if not line.startswith("#")]
    for block in "\n".join(lines).split("\n\n"):
        keyword, _, definition = " ".join(block.split()).partition(" ")
        if definition:
            yield keyword, definition


def _for_config(schema: str) -> str:
    names = {"attributetype": "olcAttributeTypes", "objectclass": "olcObjectClasses"}
    head = ["dn: cn=rtperson,cn=schema,cn=config", "objectClass: olcSchemaConfig", "cn: rtperson"]
    return _ldif("OpenLDAP's cn=config", head, names, schema)


def _for_389ds(schema: str) -> str:
    names = {"attributetype": "attributeTypes", "objectclass": "objectClasses"}
    return _ldif("389 Directory Server", ["dn: cn=schema"], names, schema)


def _ldif(server: str, head: list[str], names: dict[str, str], schema: str) -> str:
    comment = f"# RTPerson for {server}: made from rtperson.schema by `python -m ils_bench.schema`."
    lines = [f"{names[keyword]}: {definition}" for keyword, definition in _definitions(schema)]
    return "\n".join([comment, *head, *lines, ""])
