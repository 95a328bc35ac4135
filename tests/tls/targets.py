"""Load on servers with TLS, and a foreign server: OpenLDAP's slapd."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.openldap import fill, write_config
from ils_bench.targets.probe import probe
from sitebench._engine import Engine
from sitebench.scenario.script import Script
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from sitebench.targets.tls import ServerTls
from tests.support.programs import required_program, running_server
from tests.support.waiting import left_s


def failures_of(engine: Engine, script: Script, lanes: int, operations: int) -> Counter[str]:
    """Run lanes until they fail or have done `operations`; return their failures by kind."""
    ended, failures, give_up = 0, Counter[str](), time.monotonic() + left_s()
    counted = {step for _, step in script.counted_rows}
    try:
        engine.start_lanes(script.name, lanes)
        while ended < operations and not failures:
            assert time.monotonic() < give_up, "nothing ends"
            time.sleep(0.02)
            for step in engine.drain().steps:
                ended += step.count if step.step in counted else 0
                failures.update(step.failures if step.step != "sequence" else {})
    finally:
        engine.stop(5.0)
    return failures


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
    program = required_program("slapd")
    folder.mkdir(parents=True)
    config, ldif = write_config(folder, people), folder / "people.ldif"
    config.write_text(_tls_lines(shown) + config.read_text())
    write_ldif(generate(people).population, ldif)
    fill(config, [(people.size, ldif.read_bytes())])
    ports = Slapd(free_port(), free_port())
    urls = f"ldap://127.0.0.1:{ports.plain} ldaps://127.0.0.1:{ports.secure}"
    argv = [program, "-d", "0", "-f", config, "-h", urls]
    with running_server(argv, lambda: probe(DirectoryAddress("127.0.0.1", ports.plain), None)):
        yield ports
