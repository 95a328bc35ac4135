"""Every claim of docs/method.md names a test that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/method.md").read_text()
CLAIMS = re.findall(r"^\| .+ \| (.+) \|$", PAGE, re.MULTILINE)


def names_in(file: Path) -> list[str]:
    """Return the names of a file's tests, in either language."""
    text = file.read_text()
    if file.suffix == ".py":
        return re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)
    # An attribute, perhaps comments of the test, and its function.
    return re.findall(r"#\[test\]\s+(?:///?[^\n]*\s+)*fn (\w+)\(", text)


def test_every_rule_has_claims() -> None:
    sections = re.split(r"^### (\d+)\. .*$", PAGE, flags=re.MULTILINE)[1:]
    numbers, bodies = sections[::2], sections[1::2]
    assert numbers == [str(n) for n in range(1, 14)]
    for number, body in zip(numbers, bodies, strict=True):
        assert body.count("::") >= 1, f"rule {number} claims nothing"


@pytest.mark.parametrize("named", [each for each in CLAIMS if each not in ("test", "---")])
def test_every_claim_names_a_test_that_exists(named: str) -> None:
    found = re.fullmatch(r"`([\w/.]+)::(\w+)`", named)
    assert found is not None, f"{named} names no test"
    path, name = found.groups()
    file = ROOT / ("native/" + path if path.startswith("load/") else path)
    assert file.is_file(), f"{file} is not there"
    assert name in names_in(file), f"{path} has no test {name}"


def test_a_name_that_is_not_there_would_be_noticed() -> None:
    assert "test_every_rule_has_claims" in names_in(Path(__file__))
    assert "test_nothing_of_the_kind" not in names_in(Path(__file__))
    recorder = names_in(ROOT / "native/load/src/record/recorder.rs")
    assert "threads_together_hold_what_one_recorder_would" in recorder
    assert "record" not in recorder
