"""The page of scenario files lists every key that a directory's file may have."""

import json
import re

import pytest

from sitebench._engine import EngineError, Scenario, scenario_schema
from tests.docs import scenario_form as form
from tests.docs.shown import blocks
from tests.docs.test_complete_lists import first_cells, section

TEXT, OF_SITE = form.PAGE.read_text(), form.SITES.read_text()
KEYS = form.keys()


def headers(text: str) -> list[str]:
    return re.findall(r"^\| (.+?) \|.* meaning \| default \|$", text, re.MULTILINE)


def test_tables_of_the_page_match_the_schema() -> None:
    again = "run `python -m tests.docs.scenario_form` and commit the page"
    assert form.written(TEXT) == TEXT, again
    assert form.written(OF_SITE, form.SITES) == OF_SITE, again


def test_key_missing_or_superfluous_on_the_page_is_detected() -> None:
    without = "\n".join(line for line in TEXT.split("\n") if "`size_limit`" not in line)
    assert form.written(without) != without
    more = TEXT.replace("| | `scope` |", "| | `depth` | how deep | sub |\n| | `scope` |")
    assert form.written(more) == TEXT


def test_each_page_lists_every_key_of_its_protocol() -> None:
    of_ldap = {key.table for key in KEYS if "L" in key.protocols}
    of_http = {key.table for key in KEYS if key.protocols == "H"}
    for text, listed, tables in ((TEXT, form.TABLES, of_ldap), (OF_SITE, form.OF_SITES, of_http)):
        # Keys of HTTP steps are on the page of sites, except `delete`, which both pages have.
        assert {table for names in listed.values() for table in names} == tables
        assert set(headers(text)) == set(listed)
    assert headers(TEXT)[0] == "top level"


def test_keys_from_the_rust_source_match_the_engine_schema() -> None:
    """The table read from the Rust source is compared with the schema of the engine."""
    schema = json.loads(scenario_schema())
    definitions = schema["definitions"] | {"scenario": schema}
    step = {"step", "asks", "ldap", "http", "body", *form.VERBS, *form.METHODS}
    parts = {"step": step, "operation": step | {"operation", "card"}}

    def names_of(tables: set[str]) -> set[str]:
        return {key.name for key in KEYS if key.table in tables}

    for name, definition in definitions.items():
        assert names_of(parts.get(name, {name})) == set(definition["properties"]), name
    defined = {table for name in definitions for table in parts.get(name, {name})}
    assert {key.table for key in KEYS} - defined == {"controls", "value"}
    controls = definitions["step"]["properties"]["control"]["properties"]
    assert names_of({"controls"}) == set(controls)
    assert names_of({"value"}) == {"base64", "hex", "utf16", "file"}


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
    (deal,) = (key for key in form.of_directories(["data"]) if key.name == "deal")
    deals = set(re.findall(r'"([a-z-]+)"', deal.kind))
    told = set(first_cells(section(TEXT, "Data").partition("| `deal` | who gets which row |")[2]))
    assert told == deals
