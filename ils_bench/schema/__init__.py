"""RTPerson's schema, in the formats that directory servers load.

`rtperson.schema` is the definition, equal to the engine's (native/shared/people/schema); a test
compares the other files with it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
FILES = {"openldap": "rtperson.schema", "config": "rtperson.ldif", "389ds": "99rtperson.ldif"}
"""File name by server: OpenLDAP with slapd.conf, OpenLDAP with cn=config, 389 Directory Server."""


def text(kind: str) -> str:
    return (FOLDER / FILES[kind]).read_text()
