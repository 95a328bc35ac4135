"""A slapd as Debian's package makes it: its own template of cn=config, in another folder."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ils_bench.targets.address import DirectoryAddress
from sitebench.system.network import free_port
from tests.support.programs import required_program
from tests.support.slapd_folder import STARTS_WITHIN_S, answers
from tests.support.waiting import eventually

SUFFIX = "dc=example,dc=com"
BASE = f"ou=people,{SUFFIX}"
ADMIN = f"cn=admin,{SUFFIX}"
PASSWORD = "correct horse"
_TEMPLATE = Path("/usr/share/slapd/slapd.init.ldif")


@dataclass(frozen=True)
class StockSlapd:
    """A running slapd, and the folder that it keeps its entries in."""

    url: str
    folder: Path

    def entries(self, kind: str) -> list[str]:
        """Return the entries of a class as LDIF, as slapd's own slapcat has them."""
        config = ["-F", str(self.folder / "config"), "-n", "1"]
        argv = [str(required_program("slapcat")), *config, "-a", f"(objectClass={kind})"]
        found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        return [each for each in found.replace("\n ", "").split("\n\n") if each.strip()]

    def client(self, program: str, *argv: str, text: str = "") -> str:
        """Run one of OpenLDAP's clients; what it says if it fails, too."""
        command = [str(required_program(program)), "-x", "-H", self.url, *argv]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


@contextmanager
def running(folder: Path) -> Iterator[StockSlapd]:
    """Start one with an empty database, not even its suffix, and stop it."""
    for each in ("config", "data"):
        (folder / each).mkdir(parents=True)
    text = _TEMPLATE.read_text().replace("@SUFFIX@", SUFFIX).replace("@PASSWORD@", PASSWORD)
    text = text.replace("/var/lib/ldap", str(folder / "data"))
    text = text.replace("/var/run/slapd", str(folder))
    made = folder / "init.ldif"
    made.write_text(re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    config = str(folder / "config")
    argv = [str(required_program("slapadd")), "-F", config, "-n", "0", "-l", str(made)]
    subprocess.run(argv, check=True, capture_output=True)
    address = DirectoryAddress("127.0.0.1", free_port())
    command = [str(required_program("slapd")), "-d", "0", "-F", config, "-h", f"{address}/"]
    process = subprocess.Popen(command)
    try:
        assert eventually(lambda: answers(address), STARTS_WITHIN_S)
        yield StockSlapd(str(address), folder)
    finally:
        process.terminate()
        process.wait()
