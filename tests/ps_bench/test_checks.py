"""What the portable client finds wrong with answers."""

import pytest

from sitebench.http.checks import body_of, fault, path_of
from sitebench.http.scenario import FORM, Expect, Identity, Request

ANN = {"id": "7", "given": "Ann & 'Li'", "draw.colour": "#abcdef", "city": "K\u00f6ln"}
PAGE = Request(
    "page",
    expect=Expect(
        (200,),
        None,
        ("<h1>Hello, {given}</h1>",),
        Identity('data-user="', "{id}", '"'),
        ("ground {draw.colour}",),
    ),
)
RIGHT = '<body data-user="7"><h1>Hello, Ann &amp; &#39;Li&#x27;</h1>ground #abcdef'


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, RIGHT, None),
        (200, RIGHT.replace('"7"', '"8"'), "leak"),
        (500, RIGHT.replace('"7"', '"8"'), "leak"),
        (500, RIGHT, "status:500"),
        (200, RIGHT.replace("Ann", "Bob"), "wrong-answer"),
        (200, "<h1>Hello, Ann &amp; 'Li'</h1>", "wrong-answer"),
        (200, RIGHT.replace("abc", "fff"), "stale"),
    ],
)
def test_the_worst_is_named_first(status: int, body: str, kind: str | None) -> None:
    assert fault(PAGE, ANN, status, body.encode(), fresh=True) == kind


def test_only_an_update_makes_a_page_stale() -> None:
    body = RIGHT.replace("abc", "fff").encode()
    assert fault(PAGE, ANN, 200, body, fresh=False) is None


def test_a_length_is_of_bytes() -> None:
    request = Request("page", match="plain", expect=Expect((200,), 5))
    assert fault(request, ANN, 200, "K\u00f6ln".encode(), fresh=False) is None
    assert fault(request, ANN, 200, "K\u00f6ln!".encode(), fresh=False) == "wrong-length"


def test_json_is_found_however_it_is_escaped() -> None:
    request = Request("page", match="json", expect=Expect(contains=('"city": "{city}"',)))
    for text in ('{"city": "K\\u00f6ln"}', '{"city": "K\u00f6ln"}'):
        assert fault(request, ANN, 200, text.encode(), fresh=False) is None


def test_values_are_escaped_for_where_they_stand() -> None:
    form = Request("a", "/u/{city}", body="g={given}&c={city}", content_type=FORM)
    assert path_of(form, ANN) == "/u/K%C3%B6ln"
    assert body_of(form, ANN) == "g=Ann+%26+%27Li%27&c=K%C3%B6ln"
    quoted = Request("a", body='{"g": "{given}"}', content_type="application/json")
    assert body_of(quoted, {"given": 'A"b'}) == '{"g": "A\\"b"}'
