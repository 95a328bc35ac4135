"""Servers that are not ours, with TLS: OpenLDAP's slapd."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.openldap import fill, write_config
from ils_bench.targets.probe import probe
from sitebench.errors import SitebenchError
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from sitebench.targets.tls import ServerTls
from tests.support.programs import required_program
from tests.support.waiting import ends_s, left_s


@dataclass(frozen=True)
class Slapd:
    """A slapd that listens with and without TLS."""

    plain: int
    secure: int


def _tls_lines(shown: ServerTls) -> str:
    lines = [f"TLSCertificateFile {shown.cert}", f"TLSCertificateKeyFile {shown.key}"]
    if shown.client_ca is not None:
        lines += [f"TLSCACertificateFile {shown.client_ca}", "TLSVerifyClient demand"]
    return "\n".join(lines) + "\n"


@contextmanager
def slapd(folder: Path, people: Spec, shown: ServerTls) -> Iterator[Slapd]:
    """Yield a slapd that holds these people."""
    program, slapadd = required_program("slapd"), required_program("slapadd")
    folder.mkdir(parents=True)
    config, ldif = write_config(folder, people), folder / "people.ldif"
    config.write_text(_tls_lines(shown) + config.read_text())
    write_ldif(generate(people).population, ldif)
    fill(str(slapadd), config, ldif)
    ports = Slapd(free_port(), free_port())
    urls = f"ldap://127.0.0.1:{ports.plain} ldaps://127.0.0.1:{ports.secure}"
    process = subprocess.Popen([str(program), "-d", "0", "-f", str(config), "-h", urls])
    try:
        _await(process, DirectoryAddress("127.0.0.1", ports.plain))
        yield ports
    finally:
        process.terminate()
        process.wait(ends_s())


def _await(process: subprocess.Popen[bytes], address: DirectoryAddress) -> None:
    give_up = time.monotonic() + left_s()
    while True:
        try:
            return probe(address, None)
        except SitebenchError:
            assert process.poll() is None, "slapd has ended"
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
