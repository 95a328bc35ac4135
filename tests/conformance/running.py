"""Either server, by its kind."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.embedded import running_embedded
from tests.conformance.served import Served
from tests.conformance.slapd import running_slapd

KINDS = ["openldap", "embedded"]


@contextlib.contextmanager
def running(
    kind: str, folder: Path, ldif: str, *options: str, anonymous_writes: bool = False
) -> Iterator[Served]:
    """Run a server of `kind` holding `ldif`; `options` are the embedded directory's."""
    folder.mkdir(exist_ok=True)
    path = folder / "content.ldif"
    path.write_text(ldif)
    if kind == "openldap":
        with running_slapd(
            folder / "slapd", ldif=path, anonymous_writes=anonymous_writes
        ) as served:
            yield served
    else:
        argv = ("--ldif", str(path), *options)
        with running_embedded(folder, *argv, anonymous_writes=anonymous_writes) as served:
            yield served
