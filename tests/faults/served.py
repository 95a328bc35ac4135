"""Servers that faults happen to, and how they are measured through what happens."""

from dataclasses import dataclass

LOCALES = ("en_US",)
PEOPLE = 300
LANES = 4
RATE = ("--rate", "100")
"""Where nothing depends on how fast lanes go: at full speed a window takes both cores."""


@dataclass(frozen=True)
class Served:
    """A server of `PEOPLE` people at a port of this machine."""

    scheme: str
    port: int

    def run(self, port: int | None = None) -> tuple[str, ...]:
        """Return the command that reads from it, at another port where there is one in between."""
        operation = ("ils", "run", "lookup") if self.scheme == "ldap" else ("ps", "run", "page")
        where = f"{self.scheme}://127.0.0.1:{self.port if port is None else port}"
        who = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
        return (*operation, "--target", where, *who, "--users", str(LANES), "--threads", "1")
