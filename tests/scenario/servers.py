"""Directories of other vendors with foreign people, each started and stopped here.

OpenLDAP runs in every test run. 389-DS, ApacheDS and Samba's domain controller are for `make
server-tests`: they need root and additional packages; 389-DS and Samba also
need fixed places.
"""

import contextlib
import csv
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sitebench.system.network import free_port
from tests.support.programs import refuse_without, required_program, running_server, succeeds
from tests.support.waiting import eventually

SUFFIX = "dc=example,dc=com"
PEOPLE = 300
PASSWORD = "Passw0rd-of-tests"


@dataclass(frozen=True)
class Foreign:
    """A directory, an identity with write access, and its counters."""

    url: str
    bind_dn: str
    base: str
    named: str
    """The beginning of a person's RDN, and the column that completes it."""
    counted: Callable[[], tuple[int, int]] | None
    """Its numbers of searches and modifies, if it counts them."""
    looks: int = 0
    """The number of searches for one reading of its counters."""
    options: tuple[str, ...] = ()


def ldap(
    program: str, url: str, who: str, *argv: str, text: str = "", password: str = PASSWORD
) -> str:
    """Run one of OpenLDAP's clients."""
    command = [program, "-x", "-H", url, "-D", who, "-w", password, *argv]
    environment = {"LDAPTLS_REQCERT": "never", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout


def accounts(folder: Path) -> None:
    """Write the file of accounts beside a scenario."""
    with (folder / "accounts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["uid", "cn"])
        rows.writerows([f"jsmith{n}", f"J Smith {n}"] for n in range(PEOPLE))


def people(base: str, rdn: str, kind: str) -> str:
    """Return the people as LDIF; `rdn` is a template of the RDN, `kind` has further lines."""
    entries = [f"dn: {base}\nobjectClass: organizationalUnit\nou: people\n"]
    for n in range(PEOPLE):
        name = rdn.format(n=n)
        entries.append(f"dn: {name},{base}\n{kind.format(n=n)}\ncn: J Smith {n}\nsn: Smith\n")
    return "\n".join(entries)


def ask(url: str, who: str, password: str = PASSWORD) -> None:
    """Search the root; raise CalledProcessError where there is no answer."""
    ldap("ldapsearch", url, who, "-b", "", "-s", "base", password=password)


def values(found: str, *names: str) -> list[int]:
    """Return numbers from LDIF, by the attributes' names."""
    pairs = dict(line.split(": ", 1) for line in found.splitlines() if ": " in line)
    lower = {name.lower(): value for name, value in pairs.items()}
    return [int(lower[name.lower()]) for name in names]


@contextlib.contextmanager
def slapd(folder: Path) -> Iterator[Foreign]:
    """Start OpenLDAP with inetOrgPerson and no schema of sitebench."""
    schemas = ("core", "cosine", "inetorgperson")
    base, admin = f"ou=people,{SUFFIX}", f"cn=admin,{SUFFIX}"
    lines = [f"include /etc/ldap/schema/{each}.schema" for each in schemas]
    lines += ["modulepath /usr/lib/ldap", "moduleload back_mdb", "moduleload back_monitor"]
    lines += ["database monitor", "database mdb", f"suffix {SUFFIX}", f"rootdn {admin}"]
    lines += [f"rootpw {PASSWORD}", f"directory {folder}/mdb", "index uid eq", "dbnosync"]
    conf = folder / "slapd.conf"
    conf.write_text("\n".join(lines) + "\n")
    (folder / "mdb").mkdir()
    program = str(required_program("slapd"))
    root = f"dn: {SUFFIX}\nobjectClass: domain\ndc: example\n\n"
    kind = "objectClass: inetOrgPerson\nuid: jsmith{n}"
    (folder / "all.ldif").write_text(root + people(base, "uid=jsmith{n}", kind))
    add = [program, "-T", "add", "-n", "2", "-f", str(conf), "-l", str(folder / "all.ldif")]
    subprocess.run(add, check=True, capture_output=True)
    url = f"ldap://127.0.0.1:{free_port()}"
    command = [program, "-f", str(conf), "-h", url, "-d", "0"]
    with running_server(command, lambda: ask(url, admin)):

        def counted() -> tuple[int, int]:
            done = []
            for verb in ("Search", "Modify"):
                where = ("-b", f"cn={verb},cn=Operations,cn=Monitor", "-s", "base")
                found = ldap("ldapsearch", url, admin, "-LLL", *where, "monitorOpCompleted")
                done += values(found, "monitorOpCompleted")
            return done[0], done[1]

        yield Foreign(url, admin, base, "uid={person.uid}", counted, looks=2)


@contextlib.contextmanager
def ds389(folder: Path) -> Iterator[Foreign]:
    required_program("dscreate", "servers")
    port, admin, base = free_port(), "cn=Directory Manager", f"ou=people,{SUFFIX}"
    defaults = Path("/usr/share/dirsrv/inf/defaults.inf")
    text = defaults.read_text()
    # Without systemd its installer fails at `systemctl start`, whatever its configuration file
    # says.
    defaults.write_text(text.replace("with_systemd = 1", "with_systemd = 0"))
    lines = ["[general]", "config_version = 2", "full_machine_name = localhost"]
    lines += ["strict_host_checking = False", "selinux = False", "systemd = False", "[slapd]"]
    lines += ["instance_name = sitebench", f"port = {port}", f"secure_port = {free_port()}"]
    lines += [f"root_password = {PASSWORD}", "self_sign_cert = False", "[backend-userroot]"]
    lines += [f"suffix = {SUFFIX}", "create_suffix_entry = True", "sample_entries = no"]
    (folder / "ds.inf").write_text("\n".join(lines) + "\n")
    try:
        made = ["dscreate", "from-file", str(folder / "ds.inf")]
        subprocess.run(made, check=True, capture_output=True)
        url = f"ldap://127.0.0.1:{port}"
        assert eventually(lambda: succeeds(lambda: ask(url, admin)))
        kind = "objectClass: inetOrgPerson\nuid: jsmith{n}"
        ldap("ldapadd", url, admin, text=people(base, "uid=jsmith{n}", kind))

        def counted() -> tuple[int, int]:
            where = ("-b", "cn=snmp,cn=monitor", "-s", "base")
            found = ldap("ldapsearch", url, admin, "-LLL", *where)
            searches, modifies = values(found, "searchops", "modifyentryops")
            return searches, modifies

        yield Foreign(url, admin, base, "uid={person.uid}", counted, looks=1)
    finally:
        subprocess.run(
            ["dsctl", "sitebench", "remove", "--do-it"], capture_output=True, check=False
        )
        defaults.write_text(text)


APACHEDS_LOGS = """
log4j.rootCategory=FATAL, out
log4j.logger.org.apache.directory.server.OPERATION_TIME=DEBUG
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%m%n
"""
"""A log line for each operation, its only count of operations."""
APACHEDS_JARS = (
    *("/usr/share/apacheds/lib/*", "/usr/share/java/caffeine.jar"),
    *(f"/usr/share/java/commons-{each}.jar" for each in ("codec", "collections4", "lang3", "text")),
)
"""Debian's unit has only the first, and does not start with it."""


@contextlib.contextmanager
def apacheds(folder: Path) -> Iterator[Foreign]:
    """Start ApacheDS as Debian configures it, in a temporary folder."""
    if not Path("/etc/apacheds/config.ldif").exists():
        refuse_without("ApacheDS", "servers")
    admin, base, instance = "uid=admin,ou=system", f"ou=people,{SUFFIX}", folder / "instance"
    for each in ("conf", "log", "partitions", "cache", "run"):
        (instance / each).mkdir(parents=True)
    config = Path("/etc/apacheds/config.ldif").read_text().replace("0.0.0.0", "127.0.0.1")
    port = free_port()
    for stock, ours in ((10389, port), (10636, free_port())):
        config = config.replace(f"ads-systemport: {stock}\n", f"ads-systemport: {ours}\n")
    (instance / "conf/config.ldif").write_text(config)
    (folder / "log4j.properties").write_text(APACHEDS_LOGS)
    command = ["java", "-Xmx256m", "-cp", ":".join(APACHEDS_JARS)]
    # It generates its certificate with classes that Java 17 hides.
    for hidden in ("x509", "util"):
        command += ["--add-exports", f"java.base/sun.security.{hidden}=ALL-UNNAMED"]
    command += [f"-Dlog4j.configuration=file:{folder}/log4j.properties"]
    command += ["org.apache.directory.server.UberjarMain", str(instance)]
    url, log = f"ldap://127.0.0.1:{port}", folder / "operations.log"
    stock_password = "secret"
    answers = partial(ask, url, admin, stock_password)
    with log.open("w") as out, running_server(command, answers, stdout=out, stderr=out):
        change = f"changetype: modify\nreplace: userPassword\nuserPassword: {PASSWORD}\n"
        ldap("ldapmodify", url, admin, text=f"dn: {admin}\n{change}", password=stock_password)
        kind = "objectClass: inetOrgPerson\nuid: jsmith{n}"
        ldap("ldapadd", url, admin, text=people(base, "uid=jsmith{n}", kind))

        def counted() -> tuple[int, int]:
            done = log.read_text()
            return done.count("Search operation took"), done.count("Modify operation took")

        yield Foreign(url, admin, base, "uid={person.uid}", counted)


@contextlib.contextmanager
def samba(folder: Path) -> Iterator[Foreign]:
    """Start a domain controller of Samba; its ports are 389 and 636."""
    required_program("samba", "servers")
    admin, suffix = "Administrator@ad.example.com", "DC=ad,DC=example,DC=com"
    argv = ["samba-tool", "domain", "provision", "--realm=AD.EXAMPLE.COM", "--domain=EXAMPLE"]
    argv += ["--server-role=dc", "--dns-backend=NONE", f"--adminpass={PASSWORD}"]
    argv += ["--use-rfc2307", "--host-name=dc1", "--host-ip=127.0.0.1", f"--targetdir={folder}"]
    argv += [f"--option={each}" for each in ("interfaces=lo", "bind interfaces only=yes")]
    argv += ["--option=server services=ldap", "--option=dns update command=/bin/true"]
    subprocess.run(argv, check=True, capture_output=True)
    url, base = "ldaps://127.0.0.1", f"OU=people,{suffix}"
    command = ["samba", "-F", "-M", "single", "-s", str(folder / "etc/smb.conf")]
    command.append("--no-process-group")
    with running_server(command, lambda: ask(url, admin)):
        kind = "objectClass: user\nsAMAccountName: jsmith{n}\nuid: jsmith{n}"
        ldap("ldapadd", url, admin, text=people(base, "CN=J Smith {n}", kind))
        # Samba has no readable counters.
        named, options = "CN={person.cn}", ("--tls-insecure",)
        yield Foreign(url, admin, base, named, counted=None, options=options)
