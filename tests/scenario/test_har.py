"""Recordings of browsers are converted to scenario files that repeat the recorded requests."""

from __future__ import annotations

import base64
import json
import re
import time
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench.errors import BadFile, UnknownValue
from sitebench.scenario.har import convert
from tests.ps_bench.test_examples import LOGIN, serving
from tests.scenario.recording import Browser, archive, entry
from tests.scenario.test_sites import assert_done, rows
from tests.support import http_server
from tests.support.cli import in_process
from tests.support.http_server import Handler

SHOP = "http://shop.example.com"
JSON = "application/json"


def steps(*entries: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the steps of a recording with pauses."""
    text = convert(archive(*entries), "session.har", **options).text
    found: list[dict[str, Any]] = tomllib.loads(text)["operation"][0]["step"]
    return found


def posted(content: Any) -> dict[str, Any]:
    """Return a request that posts JSON."""
    return entry("POST", SHOP, post=json.dumps(content), kind=JSON)


def test_recorded_login_is_replayed_with_new_tokens(tmp_path: Path) -> None:
    accounts, mine = LOGIN / "accounts.csv", tmp_path / "accounts.csv"
    people = [line.split(",") for line in accounts.read_text().splitlines()[1:]]
    number, password, name = people[0]
    mine.write_text("\n".join(["user,password", *(f"{who},{word}" for who, word, _ in people)]))
    with serving(LOGIN, tmp_path, "--accounts", str(accounts)) as url:
        browser = Browser(url)
        form = browser.ask("GET", "/login")
        token = form.partition('name="token" value="')[2].partition('"')[0]
        browser.ask("POST", "/login", {"user": number, "password": password, "token": token})
        assert name in browser.ask("GET", "/")
        (tmp_path / "login.har").write_text(archive(*browser.entries))
        in_process("site", "from-har", "login.har", "--out", "login.toml", cwd=tmp_path).check(
            0, "accounts.csv has to have the columns user,password"
        )
        text = (tmp_path / "login.toml").read_text()
        assert token not in text
        assert password not in text
        found = rows(url, text, mine, count=20)
        run = ("site", "run", "login.toml", "--target", url, "--i-own-this-target")
        in_process(*run, "--check", cwd=tmp_path).check(0)
        load = ("--users", "4", "--warmup", "0s", "--measure", "1s", "--threads", "1", "--json")
        point = in_process(*run, *load, cwd=tmp_path).point
    assert_done(found, 20, "get login", "post login", "get root", "sequence")
    assert (point["operation"], point["failures"]) == ("login", 0), point
    assert point["operations"] > 0


API = [
    entry(
        "POST",
        f"{SHOP}/api/login",
        post='{"email": "ann@example.com", "password": "secret-of-ann", "remember": true}',
        kind=JSON,
        sent=[("Accept", JSON), ("X-Requested-With", "fetch")],
        body='{"user": {"id": 10203040}, "tokens": ["t0p-t0ken.of.api"]}',
        mime=f"{JSON}; charset=utf-8",
        headers=[("X-CSRF-Token", "csrf-0123456789")],
    ),
    entry(
        "GET",
        f"{SHOP}/api/users/10203040?fields=mail&page=2",
        sent=[
            *(("Authorization", "Bearer t0p-t0ken.of.api"), ("Accept", JSON)),
            *(("X-Requested-With", "fetch"), ("Sec-Fetch-Mode", "cors"), (":authority", "shop")),
        ],
        at=3.1,
    ),
    entry(
        "PATCH",
        f"{SHOP}/api/users/10203040",
        204,
        post='{"nick": null, "css": "a{color:red}", "owner": "10203040"}',
        kind=JSON,
        sent=[
            *(("X-CSRF-Token", "csrf-0123456789"), ("X-Api-Key", "k-e-y"), ("Accept", JSON)),
            *(("X-Requested-With", "fetch"), ("Referer", f"{SHOP}/profile?session=0123456789")),
        ],
        at=3.5,
    ),
]


def test_recorded_api_is_converted_to_a_readable_file() -> None:
    made = convert(archive(*API), "session.har")
    assert made.text == (Path(__file__).parent / "session.toml").read_text()
    assert made.notes == [
        "3 requests of shop.example.com",
        "{id} comes from the answer to 'post api login'",
        "{tokens} comes from the answer to 'post api login'",
        "{X-CSRF-Token} comes from the answer to 'post api login'",
        "accounts.csv has to have the columns email,password",
        "set $X_API_KEY in the environment",
    ]


HOSTILE = [
    *("{uuid}", "{{uuid}}", "{{{env.HOME}", "{base", "{a.b:c}", "{now:\u00e9}", "{}{", "{{"),
    *("a\r\nX-Evil: 1", "\x00\x01\x1b[31m\x7f\x85", "\u2028\u202e", "\U0001f600", "\u00e9\u00df"),
    *("'", '"""', "'''", "\\", "# no comment", "a=b&c=d", "%41%zz", "+ +", "</script>"),
]


def test_special_characters_are_sent_unchanged() -> None:
    """Unescaped, it would be a field, a header or another key."""
    urls = [f"{SHOP}/a/{{uuid}}/\u00e9?q={{uuid}}&q=1", f"{SHOP}/%7Bnow%7D?a=%zz&b", SHOP]
    forms = [[("x", text), (text, "y")] for text in HOSTILE]
    many = [("x", text) for text in HOSTILE]
    whole = json.dumps({"texts": HOSTILE, "deep": [[[[{"{uuid}": 1.5e10}]]]], "no": None})
    odd = '{"a": 1, "a": 2, "b": 1e400}'
    part = 'Content-Disposition: form-data; name="{uuid}"\r\n\r\n{now}'
    parts = f"--b\r\n{part}\r\n--b--\r\n"
    sent = [
        *(entry("POST", url, post="x", kind="text/plain") for url in urls),
        *(entry("POST", SHOP, post=urlencode(form)) for form in (*forms, many)),
        *(
            entry("POST", SHOP, post=text, kind=JSON)
            for text in (whole, whole.replace("null", "1"))
        ),
        *(entry("POST", SHOP, post=text, kind="text/plain") for text in HOSTILE),
        entry("POST", SHOP, post=odd, kind=JSON),
        entry("POST", SHOP, post=parts, kind="multipart/form-data; boundary=b"),
        *(
            entry("POST", SHOP, post="x", kind="text/xml", sent=[("X-Text", text)])
            for text in HOSTILE
        ),
    ]
    made = convert(archive(*sent), "hostile.har")
    asked: list[tuple[str, str, bytes]] = []

    class Echo(Handler):
        def post(self) -> None:
            asked.append((self.path, self.headers.get("X-Text", ""), self.content()))
            self.reply(b"ok")

    with http_server.serving(Echo) as server:
        found = rows(server.url, made.text, None, count=1, lanes=1)
    assert found["sequence"]["failures"] == {}, found
    paths = [path for path, _, _ in asked]
    assert paths[:3] == ["/a/%7Buuid%7D/%C3%A9?q=%7Buuid%7D&q=1", "/%7Bnow%7D?a=%zz&b", "/"]
    bodies = [body.decode() for _, _, body in asked[3 : len(sent)]]
    for form in (*forms, many):
        assert parse_qsl(bodies.pop(0), keep_blank_values=True) == form
    assert json.loads(bodies.pop(0)) == json.loads(whole)
    assert json.loads(bodies.pop(0)) == json.loads(whole.replace("null", "1"))
    assert bodies[: len(HOSTILE) + 2] == [*HOSTILE, odd, parts]
    headers = [text.encode("latin-1").decode() for _, text, _ in asked[: len(sent)] if text]
    assert headers == [text for text in HOSTILE if not re.search("[\x00-\x1f\x7f-\x9f]", text)]


def test_bodies_of_10_mb_are_converted_quickly() -> None:
    token = "0123456789abcdef"
    page = f'{"x" * 9_000_000}<input name="t" value="{token}">{"y" * 1_000_000}'
    form = urlencode({"t": token, "big": "z" * 1_000_000})
    first, last = steps(entry("GET", SHOP, body=page), entry("POST", SHOP, post=form))
    assert first["capture"] == {"t": {"before": 'name="t" value="', "until": '"'}}
    assert last["form"]["t"] == "{t}"


PART = '--b\r\nX: form-data; name="password"\r\n\r\n{}\r\n--b--\r\n'


def test_passwords_are_never_written_to_the_scenario() -> None:
    """Under any name, and wherever a password is repeated."""
    word = "Tr0ub4dor"
    asked = [
        entry("GET", f"{SHOP}/hint", body=f'<b hint="{word}">'),
        entry("GET", f"{SHOP}/login?pwd={word}&x={word}"),
        entry("POST", SHOP, post=urlencode([("user[password]", word), ("again", word), ("a", 1)])),
        entry("POST", SHOP, post=urlencode([("a", 1), ("a", 1), ("passwd", word)])),
        posted({"deep": [{"passwords": [{"x": word}]}]}),
        posted({"pin": 90125, "otp": None}),
        posted({"query": '{login(password: "90125"){id}}'}),
        entry("POST", f"{SHOP}?next=/%3Fx={word}"),
        entry("POST", SHOP, post=f"<login><word>{word}</word></login>", kind="text/xml"),
        entry("POST", SHOP, post="<password>90125</password>", kind="text/xml"),
        entry("POST", SHOP, post=PART.format(word), kind="multipart/form-data; boundary=b"),
        entry("GET", SHOP, sent=[("Authorization", "Basic 90125"), ("X-Auth-Token", "90125")]),
        entry("GET", f"http://ann:{word}@shop.example.com/"),
    ]
    made = convert(archive(*asked), "secrets.har")
    assert word not in made.text
    assert "90125" not in made.text
    assert not any(word in note for note in made.notes)
    assert (
        "set $QUERY, $NEXT, $BODY, $BODY_2, $AUTHORIZATION, $X_AUTH_TOKEN in the environment"
        in made.notes
    )
    assert 'secret = ["pwd", "pin"]' in made.text.splitlines()


NAMES = (
    "api_key apikey sid sig code pw userPw userPin totp kennwort credential cvv SAMLResponse jwt "
    "auth PHPSESSID session_id X-Amz-Signature accessKey"
)
HEADERS = "X-Session-Id X-Auth api_key Ocp-Apim-Subscription-Key X-Amz-Signature X-Functions-Key"


@pytest.mark.parametrize(
    "asked",
    [
        *(entry("GET", f"{SHOP}/?a=b&{name}=WORD") for name in NAMES.split()),
        *(entry("POST", SHOP, post=f"a=b&{name}=WORD") for name in NAMES.split()),
        *(posted({name: "WORD"}) for name in NAMES.split()),
        *(entry("GET", SHOP, sent=[(name, "WORD")]) for name in HEADERS.split()),
        entry("GET", SHOP, sent=[("X-From", "http://a/?token=WORD")]),
        entry("GET", f"{SHOP}/?to=/back?code=WORD"),
        entry("POST", SHOP, post='[{"name": "pw", "value": "WORD"}]', kind=JSON),
        entry("POST", SHOP, post="", sent=[("Referer", f"{SHOP}/reset/WORD;a=b#WORD")]),
        entry("POST", SHOP, post="", sent=[("Referer", "http://ann:WORD@shop.example.com/")]),
        entry("POST", SHOP, post="a=b apikey=WORD", kind="text/plain"),
        entry("GET", f"{SHOP}/cart;jsessionid=WORD/all"),
        *(
            entry("POST", SHOP, post=text, kind="multipart/form-data; boundary=b")
            for text in (
                '--b\r\nX: form-data; name="password"; filename="p.txt"\r\nX: y\r\n\r\nWORD',
                "--b\r\nX: form-data; name=password\r\n\r\nWORD\r\n--b--\r\n",
                "user=ann&password=WORD",
            )
        ),
    ],
)
def test_values_named_like_secrets_are_not_written(asked: Any) -> None:
    assert "WORD" not in convert(archive(asked), "a.har").text


BASIC = base64.b64encode(b"svc:Basic-pass-99").decode()


@pytest.mark.parametrize(
    ("sent", "secret", "field"),
    [
        (("Authorization", "Bearer to-Ken.4711"), "to-Ken.4711", "AUTHORIZATION_CREDENTIAL"),
        (("Authorization", f"Basic {BASIC}"), "Basic-pass-99", "AUTHORIZATION_PASSWORD"),
        (("X-Api-Key", "to-Ken.4711"), "to-Ken.4711", "X_API_KEY"),
        (("Cookie", "lang=en_GB; PHPSESSID=to%2DKen.4711"), "to-Ken.4711", "PHPSESSID"),
    ],
)
def test_credential_in_a_header_is_removed(sent: tuple[str, str], secret: str, field: str) -> None:
    made = convert(
        archive(
            entry("GET", f"{SHOP}/dl?t={secret}"),
            entry("GET", f"{SHOP}/files/{secret}/all?access_token={secret}"),
            entry("GET", SHOP, sent=[sent, ("X-Forward", f"Bearer {secret}"), ("X-Other", secret)]),
            entry("POST", SHOP, post=f"a=b&t={secret}"),
            posted({"deep": [{"t": secret}, secret]}),
            entry("POST", SHOP, post=f"<t>{secret}</t>", kind="text/xml"),
            entry("POST", f"{SHOP}/?next=%2F%3Ft%3D{secret}"),
        ),
        "credentials.har",
    )
    assert secret not in made.text + "".join(made.notes)
    assert BASIC not in made.text
    assert f'get = "/dl?t={{env.{field}}}"' in made.text.splitlines()
    # A token common to all users is no column of accounts.
    assert "accounts.csv" not in made.text


def test_credential_in_an_answer_is_captured() -> None:
    first, second = steps(
        entry("GET", SHOP, body='{"token": "to-Ken.4711"}', mime=JSON),
        entry("GET", f"{SHOP}/?t=to-Ken.4711", sent=[("Authorization", "Bearer to-Ken.4711")]),
    )
    assert first["capture"] == {"token": {"json": "/token"}}
    assert second["get"] == "/?t={token}"
    assert second["headers"] == {"Authorization": "Bearer {token}"}


def test_secret_is_also_removed_before_its_first_named_occurrence() -> None:
    early, _, late = steps(
        entry("GET", f"{SHOP}/geheim?q=geheim&t=to%20geheim"),
        entry("POST", f"{SHOP}/login", post="user=ann&password=geheim"),
        entry("POST", SHOP, post="remember_password=true&on=true"),
    )
    assert early["get"] == "/{account.password}?q={account.password}&t={env.T}"
    assert late["form"]["on"] == "true"
    page = entry("GET", SHOP, body='<p a="geheim" b="0123456789">')
    first, last = steps(page, entry("POST", SHOP, post="x=0123456789&password=geheim"))
    assert ("capture" in first, last["form"]["x"]) == (False, "0123456789")


def test_header_with_a_captured_value_contains_no_secret() -> None:
    _, last = steps(
        entry("GET", SHOP, headers=[("X-Id", "0123456789")]),
        entry("GET", SHOP, sent=[("X-A", "sig=geheim 0123456789"), ("X-B", "of 0123456789")]),
    )
    assert last["headers"] == {"X-A": "{env.X_A}", "X-B": "of {X-Id}"}


def test_different_secrets_have_different_names() -> None:
    asked = [
        *(entry("GET", SHOP, sent=[("Authorization", f"Bearer {n}")]) for n in (1, 2, 1)),
        *(posted({"query": f'{{login(password: "{word}")}}'}) for word in ("ab", "cd")),
        *(entry("POST", SHOP, post=f"user={who}&password=of-{who}") for who in ("a", "b", "a")),
        entry("POST", SHOP, post="again=of-b"),
    ]
    found = steps(*asked)
    assert [each["headers"]["Authorization"] for each in found[:3]] == [
        "{env.AUTHORIZATION}",
        "{env.AUTHORIZATION_2}",
        "{env.AUTHORIZATION}",
    ]
    assert [each["json"]["query"] for each in found[3:5]] == ["{env.QUERY}", "{env.QUERY_2}"]
    first = {"user": "{account.user}", "password": "{account.password}"}
    second = {"user": "{account.user_2}", "password": "{account.password_2}"}
    assert [each["form"] for each in found[5:8]] == [first, second, first]
    assert found[8]["form"] == {"again": "{account.password_2}"}


@pytest.mark.parametrize(
    "token",
    ["8f3b2c9d7e6a5f41", "123e4567-e89b-12d3-a456-426614174000", "dGhpcyBpcyBhIHRva2Vu", 16 * "4"],
)
def test_random_looking_values_are_reported(token: str) -> None:
    """Such a value may be a secret under an unknown name."""
    made = convert(archive(entry("POST", f"{SHOP}/reset/{token}", post=f"x={token}")), "a.har")
    lines = made.text.splitlines()
    places = ", ".join(f"{n} ({token[:4]}...)" for n, line in enumerate(lines, 1) if token in line)
    assert f"lines {places} have random-looking texts: check that none is a secret" in made.notes
    assert 'name = "post reset ..."' in lines
    assert not any(token in note for note in made.notes)


@pytest.mark.parametrize(
    "plain",
    ["getUserProfileDetails", "top-10-things-to-do-in-berlin", "2026-05-01T10:00:00.000", "a" * 99],
)
def test_values_made_of_words_are_not_reported_as_random(plain: str) -> None:
    """Separators between the parts of a form are not reported either."""
    kind = "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW"
    part = f'Content-Disposition: form-data; name="a"\r\n\r\n{plain}\r\n'
    text = part.join(["------WebKitFormBoundary7MA4YWxkTrZu0gW\r\n"] * 2)
    made = convert(archive(entry("POST", f"{SHOP}/{plain}", post=text, kind=kind)), "a.har")
    assert made.notes == ["1 request of shop.example.com"]


@pytest.mark.parametrize(
    ("body", "sent", "captured"),
    [
        ('<input type="hidden" name="csrf" value="{}">', "csrf", ('name="csrf" value="', '"')),
        ("<script>var csrf = '{}';", "csrf", ("csrf = '", "'")),
        ("<script>var token = '{}';", "token", ("token = '", "'")),
        ('<a href="/next?csrf={}&x=1">', "csrf", ("csrf=", "&")),
        ('<meta name="x" content="1"><meta name="y" content="{}">', "csrf",
         ('<meta name="y" content="', '"')),
        ("\u00e9 csrf={} ", "csrf", ("csrf=", " ")),
        # The text before it occurs earlier elsewhere, or is a part of a word.
        ('<p a="1"><p a="{}">', "csrf", ('<p a="1"><p a="', '"')),
        ("{} is all", "csrf", None),
        ("it is {}", "csrf", None),
        ("it is x{}, not", "csrf", None),
        # Django and Laravel write a token twice.
        ('<a b="{}"> <a name="csrf" value="{}">', "csrf", ('<a b="', '"')),
        ('<meta c="csrf" d="{}"><a csrf="{}">', "csrf", ('c="csrf" d="', '"')),
    ],
)  # fmt: skip
def test_value_is_captured_by_its_context_if_the_context_is_unique(
    body: str, sent: str, captured: tuple[str, str] | None
) -> None:
    value = "d41d8cd98f00"
    post = entry("POST", SHOP, post=urlencode({sent: value}))
    first, last = steps(entry("GET", SHOP, body=body.replace("{}", value)), post)
    if captured is None:
        assert ("capture" in first, last["form"][sent]) == (False, "{env.CSRF}")
    else:
        before, until = captured
        assert first["capture"] == {sent: {"before": before, "until": until}}
        assert last["form"][sent] == f"{{{sent}}}"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"post": "a=b&_token=d41d8cd98f00"}, "_TOKEN"),
        ({"post": "a=b&_wpnonce=3f2a9c1b2d"}, "WPNONCE"),
        ({"post": "{}", "sent": [("X-CSRF-Token", "d41d8cd98f00")]}, "X_CSRF_TOKEN"),
    ],
)
def test_token_without_origin_is_reported(sent: dict[str, Any], field: str) -> None:
    field = field.strip("_")
    form = entry("GET", SHOP, body="<form>")
    converted = convert(archive(form, entry("POST", f"{SHOP}/a", **sent)), "a.har")
    assert converted.notes == [
        "2 requests of shop.example.com",
        f"no answer has the token of ${field}: add its capture by hand",
        f"set ${field} in the environment",
    ]
    assert "account" not in converted.text
    assert f"{{env.{field}}}" in converted.text


@pytest.mark.parametrize(
    ("answer", "path", "capture", "sent"),
    [
        ('<nav href="/orders/"><a href="/orders/17">', "/orders/17",
         {"orders": {"before": '<a href="/orders/', "until": '"'}}, "/orders/{orders}"),
        ('{"total": 17, "order": {"id": 17}}', "/orders/17/edit",
         {"id": {"json": "/order/id"}}, "/orders/{id}/edit"),
        ('<a href="/shops/3/orders/17?a=b">', "/shops/3/orders/17",
         {"shops": {"before": "/shops/", "until": "/"},
          "orders": {"before": "/orders/", "until": "?"}}, "/shops/{shops}/orders/{orders}"),
        ('<a href="/o/16">Ann</a> <a href="/o/17">Bob</a>', "/o/17",
         {"o": {"before": '</a> <a href="/o/', "until": '"'}}, "/o/{o}"),
        # The text before it belongs to other objects.
        ('<a href="/o/15">A</a> <a href="/o/16">B</a> <a href="/o/17">', "/o/17", None, "/o/17"),
        ('<a href="/o/16"><b n="16"/><a href="/o/17">', "/o/17", None, "/o/17"),
        ('<a href="/o/171">', "/o/17", None, "/o/17"),
        ('{"total": 17}', "/o/17", None, "/o/17"),
        ("17 of 18", "/17", None, "/17"),
    ],
)  # fmt: skip
def test_object_numbers_are_captured_from_earlier_answers(
    answer: str, path: str, capture: Any, sent: str
) -> None:
    mime = JSON if answer.startswith("{") else "text/html"
    asked = [
        entry("GET", f"{SHOP}/list", body=answer, mime=mime),
        entry("POST", f"{SHOP}{path}", post="number=17"),
    ]
    first, last = steps(*asked)
    assert (first.get("capture"), last["post"]) == (capture, sent)
    assert last["form"] == {"number": "17"}
    notes = convert(archive(*asked), "a.har").notes
    kept = f"the numbers in the paths of {last['name']!r} are kept: no earlier answer has them"
    assert any(note.startswith(kept) for note in notes) == (capture is None)


def test_search_for_numbers_in_many_pages_is_as_fast_as_for_names() -> None:
    """As in a gallery: not every page is searched for every number."""
    page = f"<p>{'x /y ' * 30_000}"

    def convert_pictures(name: str) -> tuple[float, str]:
        pictures = (f"{SHOP}/pictures/{name}{n}/a.jpg" for n in range(720))
        pages = (entry("GET", f"{SHOP}/page/{n}", body=page) for n in range(80))
        har = archive(*pages, *(entry("GET", url, mime="image/jpeg") for url in pictures))
        begun_s = time.process_time()
        note = convert(har, "a.har").notes[1]
        return time.process_time() - begun_s, note

    named_s, _ = convert_pictures("n")
    numbered_s, note = convert_pictures("")
    assert numbered_s < 5 * named_s
    assert note.endswith(
        "and 795 more are kept: no earlier answer has them in a place that can be captured"
    )


def test_objects_of_two_kinds_with_equal_numbers_have_separate_captures() -> None:
    first, second, third, last = steps(
        entry("GET", f"{SHOP}/a", body='{"id": 1}', mime=JSON),
        entry("GET", f"{SHOP}/users/1", body='{"id": 1}', mime=JSON),
        entry("GET", f"{SHOP}/orders/1"),
        entry("GET", f"{SHOP}/users/1"),
    )
    assert (first["capture"], second["capture"]) == (
        {"id": {"json": "/id"}},
        {"id_2": {"json": "/id"}},
    )
    assert [step["get"] for step in (third, last)] == ["/orders/{id_2}", "/users/{id}"]


def test_steps_with_different_addresses_or_statuses_have_different_names() -> None:
    asked = [f"{SHOP}/list", f"{SHOP}/list?page=2", f"{SHOP}/list", f"{SHOP}/{'a' * 99}?b=c"]
    named = steps(*(entry("GET", url) for url in (*asked, f"{asked[3]}d")))
    long = "get " + "a" * 54
    expected = ["get list", "get list_2", "get list", long, f"{long}_2"]
    assert [step["name"] for step in named] == expected
    moved = [entry("GET", f"{SHOP}/", status=status) for status in (302, 200, 304)]
    assert [step["name"] for step in steps(*moved)] == ["get root", "get root_2", "get root_2"]


def test_value_is_captured_from_the_last_answer_that_contains_it_once() -> None:
    value = "d41d8cd98f00"
    first, second, twice, last = steps(
        entry("GET", f"{SHOP}/1", headers=[("X-Id", value)]),
        entry("GET", f"{SHOP}/2", headers=[("Set-Cookie", f"a=b\nid={value}; Path=/")]),
        entry("GET", f"{SHOP}/3", body=json.dumps([value, value]), mime=JSON),
        entry("GET", f"{SHOP}/{value}/12345678/password"),
    )
    assert "capture" not in first
    assert second["capture"] == {"id": {"cookie": "id"}}
    assert "capture" not in twice
    assert last["get"] == "/{id}/12345678/password"


def test_words_repeated_dates_and_partial_characters_are_not_captured() -> None:
    page = entry("GET", SHOP, body='<b day="2026-05-01"><i day="2026-05-01">')
    first, last = steps(page, entry("POST", SHOP, post="day=2026-05-01"))
    assert ("capture" in first, last["form"]) == (False, {"day": "2026-05-01"})
    page = entry("GET", SHOP, body='<option value="Deutschland">')
    post = urlencode({"country": "Deutschland"})
    body = archive(page, entry("POST", SHOP, post=post, sent=[("X-A", "HALF")]))
    text = convert(body.replace("HALF", "\\ud83d"), "a.har").text
    first, last = tomllib.loads(text)["operation"][0]["step"]
    assert "capture" not in first
    assert (last["form"]["country"], last["headers"]) == ("Deutschland", {"X-A": "\ufffd"})


def test_requests_to_one_host_are_converted_and_other_hosts_are_listed() -> None:
    asked = [
        entry("GET", "wss://shop.example.com/live", 101),
        entry("GET", f"{SHOP}/"),
        entry("GET", f"{SHOP}/a.png", mime="image/png"),
        entry("GET", f"{SHOP}/b.css", mime="text/css", _fromCache="disk"),
        entry("GET", "https://SHOP.example.com:443/c", 304),
        entry("GET", "http://cdn.example.com:8080/d"),
        entry("GET", "http://cdn.example.com:8080/e\x1b"),
        entry("OPTIONS", f"{SHOP}/"),
        entry("GET", f"{SHOP}/", 0),
        entry("GET", "data:text/plain,x"),
        entry("GET", "http://[broken/"),
        entry("POST", f"{SHOP}/", post="\ufffdPNG", kind="image/png"),
    ]
    made = convert(archive(*asked), "a.har", pages_only=True)
    assert made.notes == [
        "2 requests of shop.example.com; left out: addresses that are not http or https (2), "
        "cdn.example.com:8080 (2), websockets (1), images, style sheets, scripts and fonts (1), "
        "from the browser's cache (1), OPTIONS (1), not answered (1), bodies that are not text (1)"
    ]
    assert [each["get"] for each in steps(*asked, host="CDN.example.com:8080")] == ["/d", "/e%1B"]
    with pytest.raises(UnknownValue, match=r"use one of shop\.example\.com, cdn\.example"):
        steps(*asked, host="example.com")


def test_pauses_are_think_times_of_the_recorded_user() -> None:
    asked = [entry("GET", SHOP, at=at) for at in (1.0, 0.0, 1.5, 4.0, 3000.0)]
    pauses = [each["think"] for each in steps(*asked) if "think" in each]
    assert pauses == ["2.4s", "600.0s"]
    assert len(steps(*asked, think=False)) == len(asked)
    asked[1]["time"] = 10**400
    assert not [each for each in steps(*asked) if "think" in each]
    asked[0]["startedDateTime"] = "yesterday"
    assert len([each for each in steps(*asked) if "get" in each]) == len(asked)


@pytest.mark.parametrize(
    ("har", "said"),
    [
        ("", "bad.har is not JSON: Expecting value"),
        ("[" * 100_000, "bad.har is not JSON: it is nested too deep"),
        ("[]", "bad.har is not a HAR recording: it has no log.entries"),
        ('{"log": {"entries": {}}}', "bad.har is not a HAR recording: it has no log.entries"),
        ('{"log": {"entries": [1, {}, {"request": []}]}}', "has no request that was answered"),
        (archive(entry("GET", SHOP, 0)), "bad.har has no request that was answered"),
    ],
)
def test_file_that_is_no_recording_is_refused_in_one_line(har: str, said: str) -> None:
    with pytest.raises(BadFile) as caught:
        convert(har, "bad.har")
    assert said in caught.value.message


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
_WORDS = st.sampled_from(["a", "token", "password", "id", "{uuid}", "d41d8cd98f00", ""]) | st.text()


@st.composite
def entries(draw: Any) -> Any:
    """Draw requests as browsers record them, and sometimes invalid ones."""
    kind = st.sampled_from([JSON, "a/b+json", "application/x-www-form-urlencoded", "text/x"])
    body = _WORDS | _JSON.map(json.dumps) | st.lists(st.tuples(_WORDS, _WORDS)).map(_urlencoded)
    pairs = st.lists(st.tuples(_WORDS, _WORDS), max_size=3)
    found = entry(
        draw(st.sampled_from(["GET", "POST", "DELETE"])),
        f"{SHOP}/{draw(_WORDS)}?{draw(_WORDS)}={draw(_WORDS)}",
        draw(st.sampled_from([200, 303, 304, 404])),
        sent=draw(pairs),
        post=draw(body),
        kind=draw(kind),
        headers=draw(pairs),
        body=draw(body),
        mime=draw(kind),
        at=draw(st.floats(0, 3000)),
    )
    place = draw(st.sampled_from(["", *found]))
    return found | ({place: draw(_JSON)} if place else {})


def _urlencoded(pairs: Any) -> str:
    return urlencode(pairs, errors="replace")


@given(st.lists(entries(), max_size=6))
def test_any_recording_yields_a_valid_file_or_a_one_line_error(found: Any) -> None:
    """`convert` reads its own output: an error in writing is reported as `cannot be`."""
    try:
        made = convert(archive(*found), "any.har")
    except BadFile as error:
        if "has no request that was answered" not in error.message:
            raise
    else:
        tomllib.loads(made.text)


def test_command_writes_the_file_and_lists_its_variables(tmp_path: Path) -> None:
    har, out = tmp_path / "session.har", tmp_path / "session.toml"
    har.write_text(archive(*API), encoding="utf-8-sig")
    shown = in_process("site", "from-har", str(har), "--no-think").check(
        0, "accounts.csv has to have the columns email,password"
    )
    assert in_process("site", "from-har", str(har), "--no-think", "-o", str(out)).out == ""
    assert out.read_text() == shown.out
    in_process("site", "from-har", str(har), "-o", str(out)).check(2, "exists already")
    har.write_bytes(b"\xff")
    broken = in_process("site", "from-har", str(har))
    assert (broken.code, broken.out) == (2, "")
    assert "is not UTF-8 text" in broken.err
    har.unlink()
    assert "\n  name a readable HAR file\n" in in_process("site", "from-har", str(har)).err
