"""The page of scenario files lists every key that a directory's file may have."""

import json
import re

import pytest

from sitebench._engine import EngineError, Scenario, scenario_schema
from tests.docs.scenario_form import (
    METHODS,
    OF_SITES,
    PAGE,
    SITES,
    TABLES,
    VERBS,
    keys,
    of_directories,
    written,
)
from tests.docs.shown import blocks
from tests.docs.test_complete_lists import first_cells, section

TEXT, OF_SITE = PAGE.read_text(), SITES.read_text()


def test_tables_of_the_page_match_the_schema() -> None:
    again = "run `python -m tests.docs.scenario_form` and commit the page"
    assert written(TEXT) == TEXT, again
    assert written(OF_SITE, SITES) == OF_SITE, again


def test_key_missing_or_superfluous_on_the_page_is_detected() -> None:
    without = "\n".join(line for line in TEXT.split("\n") if "`size_limit`" not in line)
    assert written(without) != without
    more = TEXT.replace("| | `scope` |", "| | `depth` | how deep | sub |\n| | `scope` |")
    assert written(more) == TEXT


def test_page_lists_every_key_of_directory_scenarios() -> None:
    told = {table for tables in TABLES.values() for table in tables}
    of_ldap = {key.table for key in keys() if "L" in key.protocols}
    # These keys occur within HTTP steps, except `delete`, which also has its own table.
    assert of_ldap == told
    headers = re.findall(r"^\| (.+?) \|.* meaning \| default \|$", TEXT, re.MULTILINE)
    assert headers[0] == "top level"
    assert set(headers) == set(TABLES)


def test_site_page_lists_every_key_that_only_sites_have() -> None:
    of_http = {key.table for key in keys() if key.protocols == "H"}
    assert of_http == {table for tables in OF_SITES.values() for table in tables}
    headers = re.findall(r"^\| (.+?) \|.* meaning \| default \|$", OF_SITE, re.MULTILINE)
    assert set(headers) == set(OF_SITES)


def test_keys_from_the_rust_source_match_the_engine_schema() -> None:
    """The table read from the Rust source is compared with the schema of the engine."""
    schema = json.loads(scenario_schema())
    definitions = schema["definitions"] | {"scenario": schema}
    step = {"step", "asks", "ldap", "http", "body", *VERBS}
    step |= set(METHODS)
    parts = {"step": step, "operation": step | {"operation", "card"}}
    for name, definition in definitions.items():
        tables = parts.get(name, {name})
        assert {key.name for key in keys() if key.table in tables} == set(
            definition["properties"]
        ), name
    known = {table for name in definitions for table in parts.get(name, {name})}
    assert {key.table for key in keys()} - known == {"controls", "value"}
    controls = definitions["step"]["properties"]["control"]["properties"]
    assert {key.name for key in keys() if key.table == "controls"} == set(controls)
    assert {key.name for key in keys() if key.table == "value"} == {
        *("base64", "hex", "utf16", "file")
    }


def test_example_files_can_be_read() -> None:
    shown = (*blocks(TEXT, "toml"), *blocks(OF_SITE, "toml"))
    assert len(shown) >= 9
    for text in shown:
        operations = json.loads(Scenario(text).facts)["operations"]
        assert operations, text


def test_invalid_example_file_is_detected() -> None:
    with pytest.raises(EngineError, match='did you mean "search"'):
        Scenario('[[operation]]\nserach = "(uid=a)"')


def test_page_lists_every_field_and_every_way_of_dealing_rows() -> None:
    fields = set(re.findall(r"\{(\w+)", " ".join(first_cells(section(TEXT, "Values")))))
    # The reader's own names; other names are defined in the file.
    built_in = {"base", "choice", "env", "iteration", "now", "random", "user", "uuid", "worker"}
    assert fields == built_in | {"person", "number", "mail"}
    (deal,) = (key for key in of_directories(["data"]) if key.name == "deal")
    deals = set(re.findall(r'"([a-z-]+)"', deal.kind))
    told = set(first_cells(section(TEXT, "Data").partition("| `deal` | who gets which row |")[2]))
    assert told == deals
