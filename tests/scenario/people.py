"""A directory with foreign people, and a file of their accounts."""

import contextlib
import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.system.network import free_port
from tests.support.cli import Ran, in_process
from tests.support.locusts import Locust
from tests.support.waiting import left_s
from tests.support.workers import forked_workers

SUFFIX = "dc=example,dc=com"
BASE = f"ou=people,{SUFFIX}"
NAMES = ["jsmith", "Müller, Hans", "a+b=c", "x*(y)\\z", "#1", " blank", '"quoted"']


def names(count: int) -> list[str]:
    """Return `count` names; some have special characters of DNs and filters."""
    return [*NAMES, *(f"user{n}" for n in range(count - len(NAMES)))][:count]


def write_accounts(folder: Path, count: int = 100) -> Path:
    """Write a file of accounts beside scenarios."""
    path = folder / "accounts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["uid", "password"])
        rows.writerows([name, f"secret-{n}"] for n, name in enumerate(names(count)))
    return path


def write_ldif(folder: Path, count: int = 100) -> Path:
    """Write the LDIF of their directory."""
    from base64 import b64encode

    from ldap3.utils.dn import escape_rdn

    def line(name: str, value: str) -> str:
        return f"{name}:: {b64encode(value.encode()).decode()}"

    entries = [
        f"dn: {SUFFIX}\nobjectClass: domain\ndc: example",
        f"dn: {BASE}\nobjectClass: organizationalUnit\nou: people",
    ]
    for n, name in enumerate(names(count)):
        dn = line("dn", f"uid={escape_rdn(name)},{BASE}")
        values = [line("uid", name), "cn: X", "sn: X", f"userPassword: secret-{n}"]
        entries.append("\n".join([dn, "objectClass: inetOrgPerson", *values]))
    path = folder / "people.ldif"
    path.write_text("\n\n".join(entries) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Place:
    """A folder with the scenario `mix.toml` and its accounts, and a directory of these people."""

    folder: Path
    directory: LdapDirectory

    def write(self, text: str, name: str = "mix.toml") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *argv: object, file: str = "mix.toml", **env: str) -> Ran:
        target = ("--target", self.directory.url)
        return in_process("ils", "run", file, *target, *argv, cwd=self.folder, **env)

    def with_workers(self, *argv: object) -> Ran:
        """Run with two workers, which have copies of the accounts unless their folders exist."""
        bind = f"127.0.0.1:{free_port()}"
        with contextlib.ExitStack() as running:
            for folder in (self.folder / "one", self.folder / "two"):
                if not folder.exists():
                    folder.mkdir()
                    shutil.copy(self.folder / "accounts.csv", folder)
                running.enter_context(forked_workers(folder, bind))
            return self.run(*argv, "--workers", "2", "--bind", bind)

    def locust_started(self, *argv: str) -> Locust:
        """Start Locust with the scenario, and without a web page."""
        where = ("--target", self.directory.url, "--scenario", "mix.toml")
        file = str(Path(__file__).parents[2] / "locustfiles/ils.py")
        return Locust("-f", file, "--headless", "--only-summary", *where, *argv, cwd=self.folder)

    def locust(self, *argv: str) -> Ran:
        with self.locust_started(*argv) as process:
            out, err = process.communicate(left_s())
            return Ran(process.wait(), out, err)


@contextlib.contextmanager
def a_place(folder: Path, count: int = 100, **options: Any) -> Iterator[Place]:
    """Start a directory of `count` people, and write their accounts to the folder."""
    write_accounts(folder, count)
    ldif = write_ldif(folder, count)
    with LdapDirectory(0, ldif=ldif, suffix=SUFFIX, **options) as directory:
        yield Place(folder, directory)
