"""Servers for faults, and measurements of them during a fault."""

from dataclasses import dataclass

LOCALES = ("en_US",)
PEOPLE = 300
LANES = 4
RATE = ("--rate", "100")
"""A low rate for tests that do not depend on speed: at full speed a window takes both cores."""


@dataclass(frozen=True)
class Served:
    """A server of `PEOPLE` people at a port of this machine."""

    scheme: str
    port: int

    def run(self, port: int | None = None) -> tuple[str, ...]:
        """Return the command that reads from the server, at another port if there is a relay."""
        operation = ("ils", "run", "lookup") if self.scheme == "ldap" else ("ps", "run", "page")
        where = f"{self.scheme}://127.0.0.1:{self.port if port is None else port}"
        who = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
        return (*operation, "--target", where, *who, "--users", str(LANES), "--threads", "1")
