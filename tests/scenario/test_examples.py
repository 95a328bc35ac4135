"""The examples for directories run as described, on an embedded directory with suitable people."""

import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import engine_config
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import Identity
from ils_bench.targets.target import OpenDirectory
from sitebench import LdapDirectory
from sitebench._engine import Engine, Snapshot
from sitebench.scenario import script
from sitebench.suite_base.points import Load

FOLDER = Path(__file__).parents[2] / "examples" / "ldap"
EXAMPLES = sorted(FOLDER.glob("*.toml"))
PEOPLE = "ou=people,dc=example,dc=com"
MANAGER = Identity(f"uid=user.1,{PEOPLE}", "secret-1")
"""The identity of `--bind-dn` and `--password-file`."""
ENVIRONMENT = {
    "ADMIN_DN": MANAGER.dn or "",
    "ADMIN_PASSWORD": MANAGER.password or "",
    "BENCH_PASSWORD": "secret-of-the-bench",
}
"""Environment variables that examples use."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LdapDirectory]:
    """Serve the people of accounts.csv, and nested groups of them."""
    ldif = tmp_path_factory.mktemp("ldif") / "people.ldif"
    entries = [
        "dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n",
        f"dn: {PEOPLE}\nobjectClass: organizationalUnit\nou: people\n",
    ]
    for row in (FOLDER / "accounts.csv").read_text().splitlines()[1:]:
        uid, password, mail = row.split(",")
        entries.append(
            f"dn: uid={uid},{PEOPLE}\nobjectClass: inetOrgPerson\nuid: {uid}\ncn: {uid}\n"
            f"sn: Example\nmail: {mail}\nuserPassword: {password}\n"
        )
    # Each level of groups belongs to the level before.
    uids = [row.split(",")[0] for row in (FOLDER / "accounts.csv").read_text().splitlines()[1:]]
    inside = [f"uid={uid}" for uid in uids]
    for name in ("team", "division", "company"):
        members = "\n".join(f"member: {each},{PEOPLE}" for each in inside)
        entries.append(
            f"dn: cn={name},{PEOPLE}\nobjectClass: groupOfNames\ncn: {name}\n{members}\n"
        )
        inside = [f"cn={name}"]
    ldif.write_text("\n".join(entries))
    with LdapDirectory(entries=0, ldif=ldif) as served:
        yield served


def run(example: script.Script, directory: LdapDirectory) -> Snapshot:
    """Run a scenario for half a second with its number of users and short pauses."""
    options = IlsOptions(target=directory.url, threads=1)
    target = OpenDirectory("served", parse_address(directory.url), options.base, MANAGER)
    tables = {f"{example.name}/{k}": v for k, v in example.tables.items()}
    who_pause = [example.thinking(0.002)]
    config = engine_config(Load(options, target, who_pause))
    engine = Engine(config, None, None, tables)
    try:
        engine.start_lanes(example.name, example.load.get("users", 4))
        time.sleep(0.5)
    finally:
        measured = engine.stop()
    return measured


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.stem))
def test_example_runs_without_failures(
    path: Path, directory: LdapDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    example = script.read(str(path))
    rows = {(row.program, row.step): row for row in run(example, directory).steps}
    failed = {key: dict(row.examples) for key, row in rows.items() if row.failures}
    assert failed == {}
    done = [rows[key].count for key in example.counted_rows[1:]]
    assert min(done) > 0
    assert all(rows[each.name, step].count for each in example.operations for step, _ in each.steps)


def test_error_in_an_example_is_noticed(directory: LdapDirectory, tmp_path: Path) -> None:
    text = (FOLDER / "mix.toml").read_text().replace("expect.entries = 1", "expect.entries = 2")
    (tmp_path / "mix.toml").write_text(text)
    (tmp_path / "accounts.csv").write_bytes((FOLDER / "accounts.csv").read_bytes())
    rows = run(script.read(str(tmp_path / "mix.toml")), directory).steps
    kinds = {row.program: set(row.failures) for row in rows if row.step == "sequence"}
    assert kinds["search"] == {"wrong-answer"}
    assert kinds["modify"] == set()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.stem))
def test_example_names_its_purpose_and_the_replaced_tool(path: Path) -> None:
    first, second, *_ = path.read_text().splitlines()
    assert first.startswith("# ")
    assert path.stem == "mix" or re.match(r"# replaces: \w+", second), second
    # A form of TOML that editors can read.
    assert tomllib.loads(path.read_text())["operation"]
