"""The slapd of a folder of `sitebench ils seed --to slapd:`, started by the printed command."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ils_bench.seeding import slapd_folder
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.probe import connect, exists
from sitebench.system.network import free_port
from tests.support.programs import required_program, running_server


@dataclass(frozen=True)
class Slapd:
    address: DirectoryAddress
    process: subprocess.Popen[bytes]

    def has(self, dn: str) -> bool:
        with connect(self.address) as connection:
            return exists(connection, dn)

    def people(self, base: str) -> int:
        """Count all people below a base, with OpenLDAP's own client."""
        command = [str(required_program("ldapsearch")), "-x", "-LLL", "-H", str(self.address)]
        found = subprocess.run(
            [*command, "-b", base, "-s", "one", "(objectClass=RTPerson)", "1.1"],
            capture_output=True,
            check=True,
        )
        return found.stdout.count(b"dn:")


@contextmanager
def running(folder: Path) -> Iterator[Slapd]:
    """Start the folder's slapd on a free port, and stop it."""
    address = DirectoryAddress("127.0.0.1", free_port())
    argv = shlex.split(slapd_folder.command(folder, f"{address}/"))
    with running_server(argv, address.port) as process:
        yield Slapd(address, process)
