"""A slapd with Debian's own template of cn=config, in another folder."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ils_bench.targets.address import DirectoryAddress
from sitebench.system.network import free_port
from tests.support.cli import Ran, in_process
from tests.support.programs import required_program, run_program, running_server

SUFFIX = "dc=example,dc=com"
BASE = f"ou=people,{SUFFIX}"
ADMIN = f"cn=admin,{SUFFIX}"
CONFIG_ADMIN = "cn=admin,cn=config"
PASSWORD = "correct horse"
PEOPLE = 60
_TEMPLATE = Path("/usr/share/slapd/slapd.init.ldif")
_BIND = re.compile(r'(conn=\d+ op=\d+) BIND dn="([^"]*)" method=128')
_REFUSAL = re.compile(r"(conn=\d+ op=\d+) RESULT tag=97 err=49")


@dataclass(frozen=True)
class StockSlapd:
    """A running slapd, and the folder of its entries."""

    url: str
    folder: Path

    def entries(self, kind: str) -> list[str]:
        """Return the entries of a class as LDIF, as slapd's own slapcat prints them."""
        argv = [required_program("slapcat"), "-F", self.folder / "config", "-n", "1"]
        ldif = run_program([*argv, "-a", f"(objectClass={kind})"], check=True).stdout
        return [entry for entry in ldif.replace("\n ", "").split("\n\n") if entry.strip()]

    def refused(self) -> Counter[str]:
        """Return the number of refused binds of each DN, from its log."""
        asked: dict[str, str] = {}
        found: Counter[str] = Counter()
        for line in (self.folder / "log").read_text(errors="replace").splitlines():
            if bind := _BIND.search(line):
                asked[bind[1]] = bind[2]
            elif refusal := _REFUSAL.search(line):
                found[asked[refusal[1]]] += 1
        return found

    @property
    def at(self) -> tuple[str, ...]:
        """The options that name the branch of people as the target."""
        return "--target", self.url, "--base", BASE

    def ils(self, command: str, *argv: object, entries: int = PEOPLE) -> Ran:
        """Run a command of the directory suite as the administrator, with people."""
        people = ("--entries", entries, "--locales", "en_US,de_DE,ja_JP")
        who = ("--bind-dn", ADMIN, "--i-own-this-target")
        return in_process("ils", command, *argv, *people, *who, SITEBENCH_BIND_PASSWORD=PASSWORD)

    def seed(self, *argv: object, entries: int = PEOPLE) -> Ran:
        return self.ils("seed", "--to", f"{self.url}/{BASE}", *argv, entries=entries)

    def verify(self, *argv: object, entries: int = PEOPLE) -> Ran:
        return self.ils("verify", f"{self.url}/{BASE}", *argv, entries=entries)

    def clean(self, *argv: object, entries: int = PEOPLE) -> Ran:
        return self.ils("clean", "--seeded", *self.at, *argv, entries=entries)

    def empty(self) -> None:
        """Delete all entries, if there are any: slapd 2.5 ends at a delete without one."""
        if self.entries("*"):
            self.client("ldapdelete", "-r", "-D", ADMIN, "-w", PASSWORD, SUFFIX)

    def client(self, program: str, *argv: str, text: str = "") -> str:
        """Run one of OpenLDAP's clients; return its output, also on failure."""
        done = run_program([required_program(program), "-x", "-H", self.url, *argv], input=text)
        return done.stdout + done.stderr


POLICY = f"""
dn: cn=policy,{SUFFIX}
objectClass: device
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdLockout: TRUE
pwdMaxFailure: 3
"""
"""Locks an account at the third wrong password, and counts wrong passwords."""
_POLICIES = f"""
dn: olcOverlay=ppolicy,olcDatabase={{1}}mdb,cn=config
objectClass: olcOverlayConfig
objectClass: olcPPolicyConfig
olcOverlay: ppolicy
olcPPolicyDefault: cn=policy,{SUFFIX}
"""
_MEMBER_OF = """
dn: olcOverlay=memberof,olcDatabase={1}mdb,cn=config
objectClass: olcOverlayConfig
objectClass: olcMemberOf
olcOverlay: memberof
"""


@contextmanager
def running(
    folder: Path,
    *modules: str,
    last: bool = False,
    policies: bool = False,
    member_of: bool = False,
    message_bytes: int | None = None,
    auxiliary: bool = False,
    closed: bool = False,
    hidden: str | None = None,
) -> Iterator[StockSlapd]:
    """Start and stop a slapd with an empty database, even without its suffix.

    `modules` are loaded in addition. It disconnects on messages of more than `message_bytes`. With
    `last` it stores the time of each login (lastbind), with `member_of` it maintains memberOf. With
    `policies` it obeys `POLICY` once that entry exists, and logs each request, for `refused`. With
    `auxiliary` a posixGroup must be of another class as well (RFC 2307bis). With `closed` it hides
    every entry from anonymous clients; with `hidden` the entries of that class.
    """
    for each in ("config", "data"):
        (folder / each).mkdir(parents=True)
    modules += ("ppolicy",) * policies + ("memberof",) * member_of
    loaded, access = "olcModuleLoad: back_mdb\n", "olcAccess: to *\n  by * read"
    changes = {"@SUFFIX@": SUFFIX, "@PASSWORD@": PASSWORD, "/var/lib/ldap": str(folder / "data")}
    changes["/var/run/slapd"] = str(folder)
    changes[f"olcRootDN: {CONFIG_ADMIN}"] = f"olcRootDN: {CONFIG_ADMIN}\nolcRootPW: {PASSWORD}"
    changes[loaded] = loaded + "".join(f"olcModuleLoad: {module}\n" for module in modules)
    if auxiliary:
        nis, own = Path("/etc/ldap/schema/nis.ldif"), folder / "nis.ldif"
        group = "SUP top STRUCTURAL MUST ( cn $ gidN"
        own.write_text(nis.read_text().replace(group, "SUP top AUXILIARY MUST ( gidN"))
        changes[str(nis)] = str(own)
    if closed or hidden:
        which = f"filter=(objectClass={hidden})" if hidden else "*"
        rule = f"olcAccess: to {which}\n  by users read\n  by * none"
        changes[access] = f"{rule}\n{access}" if hidden else rule
    if last:
        changes["olcLastMod: TRUE"] = "olcLastMod: TRUE\nolcLastBind: TRUE"
    if message_bytes is not None:
        changes["\ncn: config\n"] = f"\ncn: config\nolcSockbufMaxIncomingAuth: {message_bytes}\n"
    text = _TEMPLATE.read_text()
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    text += _POLICIES * policies + _MEMBER_OF * member_of
    init, config = folder / "init.ldif", folder / "config"
    init.write_text(re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    argv = [required_program("slapadd"), "-F", config, "-n", "0", "-l", init]
    run_program(argv, check=True)
    address = DirectoryAddress("127.0.0.1", free_port())
    level = "stats" if policies else "0"
    command = [required_program("slapd"), "-d", level, "-F", config, "-h", f"{address}/"]
    with (folder / "log").open("wb") as log, running_server(command, address.port, stderr=log):
        yield StockSlapd(str(address), folder)
