"""A slapd for the tests: temporary folder, free port, stopped by its process ID."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ils_bench.targets.openldap import fill
from sitebench.system.network import free_port
from tests.conformance.served import Served
from tests.support.programs import required_program, running_server

SUFFIX = "o=Intranet"
ADMIN_DN = "cn=admin,o=Intranet"
ADMIN_PASSWORD = "correct horse"

REPOSITORY = Path(__file__).resolve().parents[2]
RTPERSON_SCHEMA = REPOSITORY / "native/shared/people/schema/rtperson.schema"
DEBIAN_SCHEMAS = [
    Path("/etc/ldap/schema") / name
    for name in ("core.schema", "cosine.schema", "inetorgperson.schema")
]
DEBIAN_MODULES = Path("/usr/lib/ldap")

# dds is OpenLDAP's module for RFC 2589. Its interval sets how often expired entries are removed.
CONFIGURATION = """\
{includes}
modulepath {modules}
moduleload back_mdb
moduleload dds
pidfile {folder}/slapd.pid
argsfile {folder}/slapd.args
allow bind_v2 {allow}
loglevel none
sizelimit {size_limit}
timelimit unlimited

database mdb
suffix "{suffix}"
rootdn "{admin_dn}"
rootpw "{admin_password}"
directory {folder}/data
maxsize 1073741824
dbnosync
access to attrs=userPassword by self =wx by * {passwords}
access to * by * {everybody}
index objectClass eq
index cn,sn,givenName eq,sub
index entryUUID,entryCSN eq

overlay dds
dds-interval 1
dds-min-ttl 1
dds-default-ttl 86400
dds-max-ttl 31557600

database monitor
access to * by dn.exact="{admin_dn}" read
"""


def _configuration(folder: Path, *, anonymous_writes: bool, size_limit: int | None) -> str:
    schemas = [*DEBIAN_SCHEMAS, RTPERSON_SCHEMA]
    return CONFIGURATION.format(
        includes="\n".join(f"include {path}" for path in schemas if path.exists()),
        modules=DEBIAN_MODULES,
        folder=folder,
        allow="update_anon" if anonymous_writes else "",
        size_limit="unlimited" if size_limit is None else size_limit,
        suffix=SUFFIX,
        admin_dn=ADMIN_DN,
        admin_password=ADMIN_PASSWORD,
        everybody="write" if anonymous_writes else "read",
        # Written by clients with write access, checked by a bind, readable by no client.
        passwords="=wx" if anonymous_writes else "auth",
    )


@contextlib.contextmanager
def running_slapd(
    folder: Path,
    *,
    ldif: Path | None = None,
    anonymous_writes: bool = False,
    size_limit: int | None = None,
) -> Iterator[Served]:
    """Serve `ldif`, or an empty directory, from `folder` with slapd."""
    program = required_program("slapd")
    (folder / "data").mkdir(parents=True)
    configuration = folder / "slapd.conf"
    configuration.write_text(
        _configuration(folder, anonymous_writes=anonymous_writes, size_limit=size_limit)
    )
    if ldif is not None:
        fill(configuration, [(0, ldif.read_bytes() + b"\n")])
    port = free_port()
    argv = [program, "-h", f"ldap://127.0.0.1:{port}", "-f", configuration, "-d", "0"]
    with running_server(argv, port):
        yield Served("openldap", "127.0.0.1", port, SUFFIX, ADMIN_DN, ADMIN_PASSWORD)
