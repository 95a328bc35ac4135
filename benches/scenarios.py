"""A scenario file against the same in Python: lookups, searches of people of a CSV, sharing."""

from __future__ import annotations

import json
import time
from functools import cached_property
from pathlib import Path

from benches.bench import LANES, Bench, temporary_folder
from benches.ratios import Row, Trial, Values
from ils_bench import sequences
from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench._engine import Engine, Table

PEOPLE = 10_000
BASE = "ou=people,dc=example,dc=com"

ROWS: tuple[Row, ...] = (
    Row(
        "bounded-lookup-cpu",
        "the tester's CPU for a verified lookup with size_limit = 5, us",
        "without that key",
        "bounded.cpu_us",
        "file.cpu_us",
        1.0,
        at_most=1.05,
    ),
    Row(
        "csv-search",
        "searches/s of people of a CSV file, by a scenario",
        "lookups of the same names, not verified",
        "csv.per_s",
        "names.per_s",
        1.0,
        at_least=0.97,
    ),
    Row(
        "csv-search-cpu",
        "the tester's CPU for one of them, us",
        "that of those lookups",
        "csv.cpu_us",
        "names.cpu_us",
        1.0,
        at_most=1.05,
    ),
    Row(
        "shared-connection",
        "searches/s of 16 users over one connection, 16 outstanding",
        "of one user alone",
        "shared.per_s",
        "alone.per_s",
        8.0,
        at_least=4.0,
    ),
)

_SCENARIO = """
base = "{base}"

[data.person]
file = "accounts.csv"
deal = "uniform"

[[operation]]
search = "(uid={{person.uid}})"
"""
_NAMED = """
[data.person]
people = "seeded"

[[operation]]
name = "lookup"
search = "(uid={person.uid})"
expect.entry = "person"
"""
OUTSTANDING = 16
_SHARED = f"connection.main.outstanding = {OUTSTANDING}\n"

_LOOKUP = sequences.text_of("lookup")


class ScenarioBench(Bench):
    """One directory in this process, and one thread of load."""

    def trials(self) -> list[Trial]:
        return [
            Trial("file", lambda: self._of_people(_LOOKUP)),
            Trial("bounded", lambda: self._of_people(_LOOKUP + "size_limit = 5\n")),
            Trial("csv", self._by_scenario),
            Trial("names", self._by_names),
            Trial("shared", lambda: self._by_scenario(_SHARED, OUTSTANDING)),
            Trial("alone", lambda: self._by_scenario(lanes=1)),
        ]

    @cached_property
    def _folder(self) -> Path:
        folder = self.stack.enter_context(temporary_folder())
        names = [f"jsmith{n}" for n in range(PEOPLE)]
        (folder / "accounts.csv").write_text("\n".join(["uid", *names]) + "\n")
        root = "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n"
        above = f"dn: {BASE}\nobjectClass: organizationalUnit\nou: people\n"
        kind = "objectClass: inetOrgPerson\ncn: J\nsn: S\nuid: "
        people = (f"dn: uid={name},{BASE}\n{kind}{name}\n" for name in names)
        (folder / "people.ldif").write_text("\n".join([root, above, *people]))
        return folder

    @cached_property
    def _directory(self) -> LdapDirectory:
        made = LdapDirectory(0, ldif=self._folder / "people.ldif", suffix="dc=example,dc=com")
        return self.stack.enter_context(made)

    @cached_property
    def _table(self) -> Table:
        return Table.read(self._folder / "accounts.csv", names=0)

    def _config(self, **more: object) -> str:
        where = {"host": "127.0.0.1", "port": self._directory.port, "base": BASE}
        names = {"template": "uid={i}", "count": PEOPLE}
        return json.dumps({"target": {**where, "names": names}, "verify": False, **more})

    @cached_property
    def _people(self) -> LdapDirectory:
        return self.stack.enter_context(LdapDirectory(PEOPLE))

    def _of_people(self, text: str) -> Values:
        """Look people up by a file."""
        target = {"host": "127.0.0.1", "port": self._people.port, "base": self._people.base}
        load = {"scenarios": [{"name": "lookup", "text": text}]}
        engine = Engine(json.dumps({"target": target, **load}), self._people.people)
        return self._measured(engine, "lookup", "lookup")

    def _by_scenario(self, before: str = "", lanes: int = LANES) -> Values:
        text = before + _SCENARIO.format(base=BASE)
        config = self._config(scenarios=[{"name": "csv", "text": text}])
        engine = Engine(config, None, (self._table, 0), {"csv/person": self._table})
        return self._measured(engine, "csv", "search", lanes)

    def _by_names(self) -> Values:
        config = self._config(scenarios=[{"name": "names", "text": _NAMED}])
        engine = Engine(config, None, (self._table, 0))
        return self._measured(engine, "names", "lookup")

    def _measured(self, engine: Engine, program: str, step: str, lanes: int = LANES) -> Values:
        engine.start_lanes(program, lanes)
        time.sleep(self.seconds / 4)
        before = engine.drain()
        time.sleep(self.seconds)
        found = engine.drain()
        engine.stop(1.0)
        (count,) = (each.count for each in found.steps if each.step == step)
        seconds = (found.t1_ns - found.t0_ns) / 1e9
        cpu_us = (sum(found.cpu_ns) - sum(before.cpu_ns)) / 1e3
        return {"per_s": count / seconds, "cpu_us": cpu_us / count}
