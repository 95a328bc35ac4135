"""Apache checks people of a directory: mod_authnz_ldap searches, binds, and looks into groups."""

from __future__ import annotations

import base64
import http.client
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitebench.system.network import free_port
from tests.conformance.served import Served
from tests.conformance.tools import Tools
from tests.support.programs import required_program, running_server

MODULES = "mpm_event authn_core auth_basic ldap authnz_ldap authz_core authz_user"
CONFIGURATION = """\
{load}
{user}
ServerName localhost
Listen 127.0.0.1:{port}
DefaultRuntimeDir {folder}
PidFile {folder}/pid
ErrorLog {folder}/error.log
DocumentRoot {docroot}
<Directory />
  AllowOverride None
</Directory>
<Location />
  AuthType Basic
  AuthName people
  AuthBasicProvider ldap
  AuthLDAPURL "{url}/{base}?mail?sub?(objectClass=inetOrgPerson)"
  AuthLDAPBindDN "{admin_dn}"
  AuthLDAPBindPassword "{admin_password}"
  Require ldap-group cn=staff,{base}
</Location>
"""
PEOPLE = """\
dn: cn=member,{base}
objectClass: inetOrgPerson
cn: member
sn: Member
mail: member@example.com
userPassword: of-member

dn: cn=other,{base}
objectClass: inetOrgPerson
cn: other
sn: Other
mail: other@example.com
userPassword: of-other

dn: cn=staff,{base}
objectClass: groupOfNames
cn: staff
member: cn=member,{base}
"""


@pytest.fixture
def docroot() -> Iterator[Path]:
    """Yield a folder that Apache, which runs as another user than the test, may read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        (path / "index.txt").write_text("inside")
        yield path


@pytest.fixture
def port(
    server: Served, tools: Tools, scratch: str, docroot: Path, tmp_path: Path
) -> Iterator[int]:
    """Yield the port of an Apache that admits members of a group."""
    apache = required_program("apache2")
    tools.add(PEOPLE.format(base=scratch))
    modules = "/usr/lib/apache2/modules"
    port = free_port()
    configuration = tmp_path / "apache.conf"
    configuration.write_text(
        CONFIGURATION.format(
            load="\n".join(
                f"LoadModule {name}_module {modules}/mod_{name}.so" for name in MODULES.split()
            ),
            user="User #65534\nGroup #65534" if os.geteuid() == 0 else "",
            port=port,
            folder=tmp_path,
            docroot=docroot,
            url=server.url,
            base=scratch,
            admin_dn=server.admin_dn,
            admin_password=server.admin_password,
        )
    )
    argv = [str(apache), "-f", str(configuration), "-D", "FOREGROUND"]

    def answers() -> None:
        if login(port, "", "") != 401:
            raise ConnectionError

    with running_server(argv, answers):
        yield port


def login(port: int, user: str, password: str) -> int:
    """Return the status of a request with a name and a password."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    credential = base64.b64encode(f"{user}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {credential}"} if user else {}
    connection.request("GET", "/index.txt", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_apache_admits_only_members_of_a_group(port: int) -> None:
    statuses = {
        (user, password): login(port, f"{user}@example.com", password)
        for user in ("member", "other", "unknown")
        for password in ("of-member", "of-other")
    }
    assert statuses.pop(("member", "of-member")) == 200
    assert set(statuses.values()) == {401}
    # mod_ldap caches successful logins.
    assert login(port, "member@example.com", "of-member") == 200
