"""OpenLDAP's command-line clients, run as a user runs them."""

import re
import subprocess
from dataclasses import dataclass

from tests.conformance.ldif_output import Entry, parse_entries
from tests.conformance.served import Served
from tests.support import cli
from tests.support.programs import required_program
from tests.support.waiting import left_s

# Neither a configuration file nor a home directory may affect the clients.
CLEAN_ENVIRONMENT = {"LDAPNOINIT": "1", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True)
class Ran(cli.Ran):
    """A client's output and exit code, which is the LDAP result code if there is one."""

    @property
    def result(self) -> int:
        """The result code that ldapexop prints; its exit code is only 0 or 1."""
        told = re.search(r"^ldap_parse_result: .*\((\d+)\)$", self.err, re.MULTILINE)
        return int(told[1]) if told else self.code

    @property
    def entries(self) -> list[Entry]:
        return parse_entries(self.out)

    @property
    def dns(self) -> list[str]:
        return sorted(entry.dn for entry in self.entries)


@dataclass(frozen=True)
class Tools:
    """The clients, connected to one server."""

    server: Served

    def run(self, program: str, *arguments: str, text: str | None = None) -> Ran:
        """Run `program` anonymously unless `arguments` name a bind DN."""
        command = [str(required_program(program)), "-x", "-H", self.server.url, *arguments]
        done = subprocess.run(
            command,
            input=text.encode() if text is not None else None,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            check=False,
            timeout=left_s(),
            env=CLEAN_ENVIRONMENT,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def as_admin(self, program: str, *arguments: str, text: str | None = None) -> Ran:
        """Run `program` bound as the administrator."""
        who = ("-D", self.server.admin_dn, "-w", self.server.admin_password)
        return self.run(program, *who, *arguments, text=text)

    def search(self, base: str, *arguments: str) -> Ran:
        """Run ldapsearch with plain output."""
        return self.run("ldapsearch", "-LLL", "-o", "ldif-wrap=no", "-b", base, *arguments)

    def read(self, dn: str, *attributes: str) -> Entry:
        """Return the one entry `dn`."""
        found = self.search(dn, "-s", "base", "(objectClass=*)", *attributes).check(0)
        (entry,) = found.entries
        return entry

    def exists(self, dn: str) -> bool:
        """Return whether `dn` exists."""
        code = self.search(dn, "-s", "base", "(objectClass=*)", "1.1").code
        assert code in {0, 32}
        return code == 0

    def add(self, ldif: str) -> None:
        """Add entries as the administrator; the server must accept them."""
        self.as_admin("ldapadd", text=ldif).check(0)
