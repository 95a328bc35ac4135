"""`python -m benches.instructions`: instructions that the load engine executes for one operation.

Callgrind counts what is executed, whatever else the machine does: two runs of one build differ by
a few thousandths. Each case runs twice, with one lane, for different times: the extra instructions
of the longer run, divided by its extra operations, leave out the start.

The program under callgrind is `native/tester/load/examples/job.rs`, built with the system calls of
the C library (`make instructions`): rustix's own reading of the auxiliary vector ends in SIGSEGV
there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benches.bench import temporary_folder
from ils_bench import sequences
from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench.operations import text_of as page_text
from ps_bench.options import PsOptions
from ps_bench.targets.opening import open_target
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.pools import pools

PEOPLE = 10_000
SHORT_S, LONG_S = 2.0, 10.0
OUT = Path("native/target/profiling")
PROGRAM = OUT / "release/examples/job"

_COMPARE = """
connection.main.per = "user"

[data.person]
people = "seeded"

[[operation]]
name = "compare"
compare = "{person.dn}"
entry = { cn = "{person.cn}" }
"""
_CSV = """
[data.person]
file = "accounts.csv"
deal = "uniform"

[[operation]]
name = "csv-search"
search = "(cn={person.cn})"
"""


def main(names: list[str]) -> None:
    """Print a line for each case, or for the cases in `names`."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        for name, step, job in _cases(stack, folder):
            if not names or name in names:
                (shorter, least), (longer, most) = (
                    _executed(name, step, job, folder, seconds) for seconds in (SHORT_S, LONG_S)
                )
                count = longer - shorter
                print(
                    f"{name:12}{(most - least) / count:12,.0f}  ({count:,} operations)", flush=True
                )


def _executed(
    name: str, step: str, job: dict[str, Any], folder: Path, seconds: float
) -> tuple[int, int]:
    """Return the operations of a run, and the instructions of the whole process."""
    # People added by the previous run are not added again.
    job["config"]["adds"] = {"start": int(seconds) * 1_000_000, "keys": 1_000_000}
    (folder / "job.json").write_text(json.dumps(job))
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={OUT}/{name}"]
    run = subprocess.run(
        [*callgrind, str(PROGRAM), str(folder / "job.json"), str(seconds)],
        capture_output=True,
        text=True,
        check=False,
    )
    answered = re.search(rf"^{step} (\d+) \[\]$", run.stdout, re.MULTILINE)
    executed = re.search(r"Collected : (\d+)", run.stderr)
    if answered is None or executed is None:
        sys.exit(run.stdout + run.stderr)
    return int(answered[1]), int(executed[1])


def _cases(stack: ExitStack, folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name, the counted step and the job of each case."""
    directory = stack.enter_context(LdapDirectory(PEOPLE))
    people = generate(Spec(PEOPLE, base=directory.base)).population
    rows = folder / "accounts.csv"
    rows.write_text("\n".join(["cn", *(people.name(i) for i in range(PEOPLE))]) + "\n")
    target = {"host": "127.0.0.1", "port": directory.port, "base": directory.base}
    common = {"pools": str(pools().path), "lanes": 1}

    def case(name: str, step: str, text: str, **more: object) -> tuple[str, str, dict[str, Any]]:
        config = {"target": target, "scenarios": [{"name": name, "text": text}], **more}
        job = {**common, "population": json.loads(people.spec_json), "config": config}
        return name, step, {**job, "tables": {"csv-search/person": str(rows)}}

    lookup = sequences.text_of("lookup")
    yield case("lookup", "lookup", lookup)
    yield case("unverified", "lookup", lookup, verify="none")
    yield case("bounded", "lookup", lookup + "size_limit = 5\n")
    yield case("compare", "compare", _COMPARE)
    yield case("csv-search", "search", _CSV)
    yield case("retrieve", "retrieve", sequences.text_of("retrieve"))
    yield case("add", "add", sequences.text_of("add"))
    options = PsOptions(entries=PEOPLE)
    site = stack.enter_context(open_target(options)).address
    where = {"protocol": "http", "host": site.host, "port": site.port, "size": PEOPLE}
    page = {
        "target": where,
        "scenarios": [{"name": "page", "text": page_text("page", keepalive=True)}],
    }
    visitors = [options.seed, list(options.locales)]
    yield "page", "page", {**common, "visitors": visitors, "config": page}


if __name__ == "__main__":
    main(sys.argv[1:])
