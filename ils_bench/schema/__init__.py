"""RTPerson's schema for directories that are not ours, each in the format it loads.

`rtperson.schema` is the definition, as the engine has it (native/shared/people/schema); a test
holds the other files to it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
FILES = {"openldap": "rtperson.schema", "config": "rtperson.ldif", "389ds": "99rtperson.ldif"}
"""By the name they are asked for: OpenLDAP's slapd.conf and cn=config, and 389 Directory Server."""


def text(kind: str) -> str:
    return (FOLDER / FILES[kind]).read_text()
