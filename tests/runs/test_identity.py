"""Keys of points: their parts and their stability."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sitebench.options.option import fields_of, names_by_setting
from sitebench.runs import identity
from sitebench.suite import suites
from sitebench.suite_base.points import points_of
from tests.support.planned import planned

KEYS = Path(__file__).with_name("keys.txt")
"""Commands with the keys of their points.

A changed key makes `--out` and `resume` measure its point again: in that case raise
`runs.schema.VERSION`, so that older files are refused instead.
"""

FILES = {
    "site.toml": 'data.one.file = "ids.csv"\n[[operation]]\nname = "home"\nget = "/?{one.id}"\n',
    "ids.csv": "id\n1\n2\n",
    "directory.toml": '[[operation]]\nname = "find"\nsearch = "(cn=a)"\nbase = "o=b"\n',
}

NO_IDENTITY = {
    *("explicit", "i_own_this_target", "check", "fail_log", "monitor", "bind", "workers_wait"),
    *("data", "password_file", "tls_ca", "tls_cert", "tls_key", "tls_key_password_file"),
}
"""Options that do not distinguish points: files, permissions, and methods of the command."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the files of the commands in the current folder; their names belong to keys."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", KEYS.read_text().splitlines())
def test_keys_of_points_are_stable(folder: Path, line: str) -> None:
    command, _, keys = line.rpartition(" = ")
    assert [spec.key for spec in planned(*command.split())] == keys.split()


def test_every_option_and_no_other_name_is_declared_as_identifying_or_not() -> None:
    settings = {name for suite in suites() for name in names_by_setting(points_of(suite).options)}
    assert {*identity.OPTIONS} - settings == {"until"}
    assert settings - {*identity.OPTIONS} == NO_IDENTITY


def renamed(options: type[Any], old: str, new: str) -> type[Any]:
    """Return a class with the same options, one of which has another name."""
    body = {}
    for field, spec in fields_of(options):
        is_renamed = field.name == old
        option = msgspec.structs.replace(spec, setting=old) if is_renamed else spec
        body[new if is_renamed else field.name] = dataclasses.field(
            default=field.default, metadata=dict.fromkeys(field.metadata, option)
        )
    types = dict.fromkeys(body, Any)
    return dataclasses.dataclass(frozen=True)(
        type("Renamed", (), {**body, "__annotations__": types})
    )


@pytest.mark.parametrize("name", sorted(identity.SETTINGS))
def test_renamed_option_keeps_the_key_of_points(name: str) -> None:
    for suite in suites():
        options = points_of(suite).options
        before = identity.settings_of(options(rate=5.0))
        assert identity.settings_of(renamed(options, name, "another")(rate=5.0)) == before


def test_settings_without_effect_are_omitted_from_keys() -> None:
    options = points_of(suites()[0]).options
    assert "arrivals" not in identity.settings_of(options())
    assert identity.settings_of(options(rate=5.0, arrivals="even"))["arrivals"] == "even"
    assert "depth" not in identity.settings_of(options())
    assert identity.settings_of(options(groups=3))["depth"] == "1"
