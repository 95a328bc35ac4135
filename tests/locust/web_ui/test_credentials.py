"""Name and password of the web UI: from a file or the environment."""

from pathlib import Path

import pytest

from sitebench.errors import BadFile, BadInput
from sitebench.locust.web_ui.login import credentials
from sitebench.system.secret import UI_LOGIN


def test_first_line_of_a_credentials_file_has_name_and_password(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("anna:a:b c\nmore\n")
    assert credentials(str(file)) == ("anna", "a:b c")


def test_environment_variable_provides_login_name_and_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(UI_LOGIN, "anna:secret")
    assert credentials(None) == ("anna", "secret")


@pytest.mark.parametrize("text", ["", "anna", "anna:", ":secret"])
def test_name_without_password_and_password_without_name_are_refused(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "login"
    file.write_text(text)
    with pytest.raises(BadInput, match="NAME:PASSWORD"):
        credentials(str(file))


def test_missing_file_of_credentials_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="nowhere"):
        credentials(str(tmp_path / "nowhere"))
