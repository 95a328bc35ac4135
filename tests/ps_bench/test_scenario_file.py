"""Scenario files: what they say, and where they are wrong."""

import tomllib
from pathlib import Path

import pytest

from sitebench.http.scenario import Identity
from sitebench.http.scenario_file import BadScenarioFile, parse, read
from sitebench.http.toml_places import places

WHOLE = """\
# what people do
[headers]
Cookie = "user={id}"

[[operation]]
name = "join"
share = 5

[[operation.request]]
path = "/users"
method = "POST"
person = "new"
does = "create"
body = "given={given}"
content_type = "application/x-www-form-urlencoded"
expect = { status = [200, 201], contains = "welcome" }
capture.cookie = "user"

[[operation]]
name = "look"
share = 95
page = true

[[operation.request]]
path = "/"
expect.identity = { before = 'data-user="', value = "{id}", until = '"' }
expect.length = 8290

[[operation.request]]
path = "/logo.gif"
headers = { cookie = "none" }
"""


def test_a_file_says_what_the_engine_is_told() -> None:
    scenario = parse(WHOLE, "file")
    join, look = scenario.operations
    assert (join.name, join.share, join.page, join.counts) == ("join", 5, False, "join")
    assert join.requests[0].headers == (("Cookie", "user={id}"),)
    assert join.requests[0].expect.status == (200, 201)
    assert [request.name for request in look.requests] == ["look", "look 2"]
    assert look.requests[0].expect.identity == Identity('data-user="', "{id}", '"')
    # A request's own header replaces the shared one of that name, however it is written.
    assert look.requests[1].headers == (("cookie", "none"),)
    program = scenario.to_program(think_s=0.5)
    assert [branch["weight"] for branch in program["steps"][0]["branches"]] == [5, 95]
    assert program["steps"][1] == {"op": "think", "mean_ms": 500, "distribution": "exponential"}
    step = program["steps"][0]["branches"][0]["steps"][0]
    assert step["capture"] == {"cookie": "user"}
    assert step["expect"]["contains"] == ["welcome"]


OPERATION = '[[operation]]\nname = "a"\n[[operation.request]]\n'


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('[[operation]]\nname = "a"\nshaer = 5\n', "line 3, column 1", "'shaer'"),
        (OPERATION + "  pth = '/'\n", "line 4, column 3", "unknown key 'pth'"),
        (OPERATION + "expect.statu = 200\n", "line 4, column 8", "unknown key 'statu'"),
        (OPERATION + 'expect = { status = 200, text = "a" }\n', "line 4, column 26", "'text'"),
        (OPERATION + 'path = "/{nmae}"\n', "line 4, column 1", "{nmae}"),
        (OPERATION + 'path = "a.html"\n', "line 4, column 1", "'a.html' is no path"),
        (OPERATION + 'path = "/a b"\n', "line 4, column 1", "'/a b' is no path"),
        (OPERATION + 'expect.contains = ["a",\n  "{foo}"]\n', "line 5, column 3", "{foo}"),
        (OPERATION + 'person = "everyone"\n', "line 4, column 1", "'everyone'"),
        (OPERATION + "path = 7\n", "line 4, column 1", "is not text"),
        ("[[operation]]\nname = 'a'\nshare = 0\n[[operation.request]]\n", "line 3", "share"),
        ("oops = 1\n" + OPERATION, "line 1, column 1", "unknown key 'oops'"),
        ("[[operation]\n", "line 1, column", "Expected"),
        ("", "line 1, column 1", "'operation' is missing"),
        (OPERATION + OPERATION.replace('"a"', '"b"') + "zip = 1\n", "line 7, column 1", "'zip'"),
        (OPERATION + 'capture.before = "x"\n', "line 4, column 1", "capture of nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, where: str, what: str) -> None:
    with pytest.raises(BadScenarioFile) as raised:
        parse(text, "file.toml")
    assert raised.value.message.startswith("file.toml, ")
    assert where in raised.value.message
    assert what in raised.value.message
    assert raised.value.remedy


def test_one_name_cannot_count_for_two_operations() -> None:
    two = OPERATION + '[[operation]]\nname = "b"\n[[operation.request]]\nname = "a"\n'
    with pytest.raises(BadScenarioFile, match="both named 'a'"):
        parse(two, "file.toml")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadScenarioFile, match="cannot read the scenario"):
        read(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadScenarioFile, match="not UTF-8"):
        read(tmp_path / "bytes.toml")


def test_places_are_those_of_keys_and_not_of_texts_that_look_like_them() -> None:
    text = (
        'a.b = """\nc = 1\n"""\n"quo ted" = [{x = 1}, {y.z = 2}]  # d = 3\n'
        "[[t.u]]\nk = '''\nk2 = 1'''\n[t.v]\nw = [\n  1,  # one\n  2,\n]\n[[t.u]]\nk = 1\n"
    )
    tomllib.loads(text)
    found = places(text)
    assert found["a", "b"] == (1, 3)
    assert found["quo ted", 1, "y", "z"] == (4, 26)
    assert found["t", "u", 0, "k"] == (6, 1)
    assert found["t", "v", "w", 1] == (11, 3)
    assert found["t", "u", 1, "k"] == (14, 1)
    assert not any("c" in path or "d" in path or "k2" in path for path in found)


def test_a_file_nested_deeper_than_python_is_refused() -> None:
    """Found by tests/trust/test_hostile_files.py."""
    with pytest.raises(BadScenarioFile, match="nested too deep"):
        parse("a = " + "[" * 5_000, "file")
