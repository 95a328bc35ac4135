"""Sitebench's options for options of other tools exist: keys, options, files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitebench._engine import Scenario
from tests.docs.cli_page import ROOT
from tests.docs.scenario_form import keys
from tests.docs.shown import KNOWN, command_of, known_options
from tests.docs.test_complete_lists import page

OPTIONS = known_options(KNOWN["ils", "run"]) | {"-u"}
KEYS = {f"{key.table}.{key.name}" for key in keys() if "L" in key.protocols}
KEYS |= {key.name for key in keys() if key.table in {"scenario", key.name, "step", "ldap"}}
KEYS |= {f"control.{key.name}" for key in keys() if key.table == "controls"}
KEYS |= {"connection.main.bind", "connection.main.password"}


def named() -> Iterator[str]:
    """Yield the code in the second cells of the tables of options."""
    text = page("from-other-tools.md").partition("\n## searchrate")[2]
    for row in re.findall(r"^\| .+? \| (.+?) \|", text, re.MULTILINE):
        yield from re.findall("`([^`]+)`", row)


@pytest.mark.parametrize("name", sorted(set(named())))
def test_sitebench_options_named_in_the_page_exist(name: str) -> None:
    if name.startswith("-"):
        assert name in OPTIONS
    elif name.startswith("sitebench "):
        command_of(name.split()[1:])
    elif name.startswith("{"):
        data = '[data.account]\nfile = "a.csv"\n'
        Scenario(f'{data}[[operation]]\nsearch = "(|(uid={{account.uid}})(cn={name}))"')
    else:
        assert name.partition(" = ")[0] in KEYS


@pytest.mark.parametrize("wrong", ["--threds", "search.filtre", "add.step"])
def test_name_missing_in_sitebench_is_detected(wrong: str) -> None:
    with pytest.raises(AssertionError):
        test_sitebench_options_named_in_the_page_exist(wrong)


def test_page_lists_exactly_the_existing_examples() -> None:
    listed = re.findall(r"^\| `(examples/ldap/.+?)` \|", page("from-other-tools.md"), re.MULTILINE)
    there = sorted((ROOT / "examples" / "ldap").glob("*.toml"))
    assert sorted(listed) == [str(Path(each).relative_to(ROOT)) for each in there]


def test_page_lists_no_unfinished_feature() -> None:
    """All listed features of other tools work in sitebench."""
    for row in re.findall(r"^\| .+? \| `.+$", page("from-other-tools.md"), re.MULTILINE):
        assert "not run yet" not in row, row
