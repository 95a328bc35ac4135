"""TOML files read field by field: messages and remedies of the reader itself."""

from collections.abc import Mapping
from typing import Any

import pytest

from sitebench.errors import BadFile
from sitebench.http.toml_file import TomlTable, flag, list_of, number, one_of, read, suggest, text


def made(document: Mapping[str, Any]) -> tuple[str, tuple[int, ...], bool, str]:
    table = TomlTable(document, (), "name", "sizes", "on", "kind")
    return (
        table.must("name", text),
        table.take("sizes", list_of(number(2), "sizes = [2]"), ()),
        table.take("on", flag, False),
        table.take("kind", one_of(("red", "green")), "red"),
    )


def test_fields_are_read_and_absent_ones_have_their_defaults() -> None:
    assert read("name = 'a'", "file", made, BadFile) == ("a", (), False, "red")
    whole = "name = 'a'\nsizes = [2, 3]\non = true\nkind = 'green'"
    assert read(whole, "file", made, BadFile) == ("a", (2, 3), True, "green")


@pytest.mark.parametrize(
    ("content", "message", "remedy"),
    [
        ("", "file, line 1, column 1: 'name' is missing", "add name = ..."),
        (
            "\n  nmae = 1",
            "file, line 2, column 3: unknown key 'nmae'",
            "did you mean 'name'? known: ",
        ),
        ("name = 'a'\nzzz = 1", "file, line 2, column 1: unknown key 'zzz'", "known: name, sizes"),
        (
            "name = 'a'\nsizes = [2,\n  1]",
            "file, line 3, column 3: item 2 of 'sizes' is 1, not a whole number of at least 2",
            "write a whole number such as 2",
        ),
        ("name = 'a'\nkind = 5", "file, line 2, column 1: unknown kind 5", "known: red, green"),
        ("name = 'a'\nname = 'b'\n", "file, line 2, column 11: Cannot overwrite", "TOML syntax"),
        ("name = '", "file, at its end: ", "TOML syntax"),
        ("name = ['a'", "file, at its end: Unclosed array", "TOML syntax"),
    ],
)
def test_an_error_has_its_place_and_a_remedy(content: str, message: str, remedy: str) -> None:
    with pytest.raises(BadFile) as error:
        read(content, "file", made, BadFile)
    assert error.value.message.startswith(message)
    assert "end of document" not in error.value.message
    assert remedy in error.value.remedy


def test_only_a_likely_name_is_suggested() -> None:
    assert suggest("wieght", ("name", "weight")) == "did you mean 'weight'? known: name, weight"
    assert suggest("zzz", ("name", "weight")) == "known: name, weight"
