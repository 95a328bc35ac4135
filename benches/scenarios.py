"""Scenario files with people of a CSV file: searches, and users who share a connection."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from benches.bench import Bench, run_lanes, temporary_folder
from benches.ratios import Trial, Values, rows_of
from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench._engine import Engine, Table

PEOPLE = 10_000
BASE = "ou=people,dc=example,dc=com"

ROWS = rows_of("scenarios")

CSV_SEARCH = """
[data.person]
file = "accounts.csv"
deal = "uniform"

[[operation]]
search = "(uid={person.uid})"
"""
NAMED_LOOKUP = """
[data.person]
people = "seeded"

[[operation]]
name = "search"
search = "(uid={person.uid})"
expect.entry = "person"
"""
OUTSTANDING = 16
_SHARED = f"connection.main.outstanding = {OUTSTANDING}\n"


@contextlib.contextmanager
def csv_people() -> Iterator[tuple[LdapDirectory, Table]]:
    """Yield a directory in this process and the table of its people's names."""
    names = [f"jsmith{n}" for n in range(PEOPLE)]
    root = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n"
    above = f"dn: {BASE}\nobjectClass: organizationalUnit\nou: people\n"
    classes = "objectClass: inetOrgPerson\ncn: J\nsn: S\nuid: "
    people = (f"dn: uid={name},{BASE}\n{classes}{name}\n" for name in names)
    with temporary_folder() as folder:
        (folder / "accounts.csv").write_text("\n".join(["uid", *names]) + "\n")
        (folder / "people.ldif").write_text("\n".join([root, above, *people]))
        ldif, table = folder / "people.ldif", Table.read(folder / "accounts.csv", names=0)
        with LdapDirectory(0, ldif=ldif, suffix="dc=example,dc=com") as directory:
            yield directory, table


def csv_engine(directory: LdapDirectory, table: Table, text: str) -> Engine:
    """Return an engine that runs a scenario with people of the table and the step `search`."""
    names = {"template": "uid={i}", "count": PEOPLE}
    target = {"host": "127.0.0.1", "port": directory.port, "base": BASE, "names": names}
    scenarios = [{"name": "csv", "text": text}]
    config = {"target": target, "verify": "none", "scenarios": scenarios}
    return Engine(json.dumps(config), None, (table, 0), {"csv/person": table})


class ScenarioBench(Bench):
    """One directory in this process, and one thread of load."""

    def trials(self) -> list[Trial]:
        return [
            Trial("shared", lambda: self._searches(_SHARED + CSV_SEARCH, OUTSTANDING)),
            Trial("alone", lambda: self._searches(CSV_SEARCH, 1)),
        ]

    def _searches(self, text: str, lanes: int) -> Values:
        with csv_people() as (directory, table):
            window = run_lanes(csv_engine(directory, table, text), "csv", lanes, self.seconds)
        return {"per_s": window.rates(lambda step: step.step == "search")["ops_per_s"]}
